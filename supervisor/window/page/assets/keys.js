// Keys, each with something visible that does the same, and the dialog that lists them.
//
// They are silent while somebody types, and can be switched off there: a page that reacts to single
// letters is in the way of who speaks to the machine.

const list = [
  [['/'], 'search the log'],
  [['j', 'k'], 'next, previous attempt; Enter opens it'],
  [['c'], 'the curve'],
  [['l'], 'the log'],
  [['u'], 'local times or UTC'],
  [['?'], 'this list'],
];
const on_curve = [
  [['←', '→'], 'walk along the curve, with Shift faster'],
  [['n', 'p'], 'next, previous end of an attempt'],
  [['+', '−', '0'], 'closer, further, the whole run'],
  [['Page Up', 'Page Down'], 'move what is seen'],
];

function table(caption, rows) {
  const node = document.createElement('table');
  node.createCaption().textContent = caption;
  const body = node.createTBody();
  for (const [keys, words] of rows) {
    const row = body.insertRow();
    const head = document.createElement('th');
    head.scope = 'row';
    keys.forEach((key, i) => {
      const cap = document.createElement('kbd');
      cap.textContent = key;
      head.append(i ? ' ' : '', cap);
    });
    row.append(head);
    row.insertCell().textContent = words;
  }
  return node;
}

export class Keys {
  // `choice` keeps what was chosen; `turn_utc` is what `u` does.
  constructor(tools, {choice, turn_utc, utc}) {
    this.off = choice('trainward.keys') === 'off';
    const button = (text, words) => {
      const made = document.createElement('button');
      made.type = 'button';
      made.textContent = text;
      made.title = words;
      made.setAttribute('aria-label', words);
      tools.append(made);
      return made;
    };
    const zone = button('UTC', 'show times in UTC');
    zone.setAttribute('aria-pressed', utc());
    this.turn = () => {
      turn_utc();
      zone.setAttribute('aria-pressed', utc());
    };
    zone.addEventListener('click', this.turn);
    button('?', 'keys and help').addEventListener('click', () => this.help());
    this.build(choice);
    document.addEventListener('keydown', (event) => this.key(event));
  }

  build(choice) {
    const dialog = document.createElement('dialog');
    dialog.id = 'help';
    dialog.setAttribute('aria-labelledby', 'help-title');
    const title = document.createElement('h2');
    title.id = 'help-title';
    title.textContent = 'Keys';
    const label = document.createElement('label');
    const box = document.createElement('input');
    box.type = 'checkbox';
    box.checked = !this.off;
    box.addEventListener('change', () => {
      this.off = !box.checked;
      choice('trainward.keys', this.off ? 'off' : 'on');
    });
    label.append(box, ' react to single keys');
    const close = document.createElement('button');
    close.type = 'button';
    close.textContent = 'Close';
    close.addEventListener('click', () => dialog.close());
    const row = document.createElement('div');
    row.className = 'actions';
    row.append(close);
    dialog.append(title, table('On the page', list), table('On the curve', on_curve), label, row);
    document.body.append(dialog);
    this.dialog = dialog;
  }

  help() {
    if (!this.dialog.open) this.dialog.showModal();
  }

  key(event) {
    const typing = event.target.closest?.('input, textarea, select, dialog, [contenteditable]');
    if (typing || event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    if (event.key !== '?' && this.off) return;
    const act = {
      '/': () => this.focus('#log-search'), j: () => this.attempt(1), k: () => this.attempt(-1), l: () => this.focus('#log-text'),
      c: () => this.focus('.curve-plot [role="slider"]'), u: () => this.turn(), '?': () => this.help(),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  focus(selector) {
    const node = document.querySelector(selector);
    node?.focus({preventScroll: true});
    node?.scrollIntoView({block: 'center'});
  }

  attempt(by) {
    const rows = [...document.querySelectorAll('#attempts tbody > tr, #attempts ol > li')];
    if (!rows.length) return;
    const here = rows.findIndex((row) => row.contains(document.activeElement));
    const row = rows[Math.min(Math.max(here < 0 ? 0 : here + by, 0), rows.length - 1)];
    const target = row.querySelector('summary, a, button') ?? row;
    if (target === row) row.tabIndex = -1;
    target.focus({preventScroll: true});
    row.scrollIntoView({block: 'nearest'});
  }
}
