// Start, stop, restart: first a dialog that says what it would cost, as the daemon reckons it, then
// the wish itself. Without this script the same forms lead to a page that asks.

const words = {start: 'Start', stop: 'Stop', restart: 'Restart'};

function dialog_of() {
  const known = document.getElementById('action-dialog');
  if (known) return known;
  const make = (name, attributes, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const dialog = make('dialog', {id: 'action-dialog', 'aria-labelledby': 'action-title'},
    make('h2', {id: 'action-title'}),
    make('p', {id: 'action-text', role: 'status'}),
    make('div', {class: 'actions'},
      make('button', {type: 'button', id: 'action-cancel'}, 'Cancel'),
      make('button', {type: 'button', id: 'action-go'})));
  dialog.querySelector('#action-cancel').addEventListener('click', () => dialog.close());
  dialog.querySelector('#action-go').addEventListener('click', () => dialog.go?.());
  dialog.addEventListener('close', () => { dialog.go = null; });
  document.body.append(dialog);
  return dialog;
}

// What the daemon said, as a sentence; an error with what to do about it.
async function post(path) {
  const answer = await fetch(path, {method: 'POST', headers: {'X-Trainward': '1'}});
  let document_ = {};
  try {
    document_ = await answer.json();
  } catch { /* an answer without a document has its status */ }
  const {error} = document_;
  const said = error ? [error.what, error.where, error.hint].filter(Boolean).join(': ') : document_.message || document_.result;
  return {ok: answer.ok && document_.ok !== false, text: said || `The daemon answered ${answer.status}.`};
}

async function ask(form, done) {
  const action = form.dataset.action;
  const path = new URL(form.action).pathname.replace(/^\/programs\/([^/]+)\/actions\//, '/v1/programs/$1/');
  const name = decodeURIComponent(path.split('/')[3]);
  const dialog = dialog_of();
  const [title, text, go, cancel] = ['title', 'text', 'go', 'cancel'].map((id) => dialog.querySelector(`#action-${id}`));
  title.textContent = `${words[action] ?? action} ${name}?`;
  text.textContent = 'Asking the daemon what it would cost …';
  go.textContent = words[action] ?? action;
  go.className = action === 'start' ? 'primary' : 'danger';
  go.hidden = false;
  go.disabled = true;
  cancel.textContent = 'Cancel';
  dialog.showModal();
  const lost = {ok: false, text: 'The daemon does not answer. Nothing was done, as far as this page knows.'};
  const said = await post(`${path}?dry_run=1`).catch(() => lost);
  text.textContent = said.text;
  go.disabled = !said.ok;
  if (said.ok) cancel.focus();
  dialog.go = async () => {
    go.disabled = true;
    text.textContent = `${words[action] ?? action}: waiting for ${name} …`;
    const result = await post(path).catch(() => lost);
    text.textContent = result.text;
    go.hidden = true;
    cancel.textContent = 'Close';
    cancel.focus();
    done();
  };
}

export function watch_actions(done) {
  document.addEventListener('submit', (event) => {
    const form = event.target.closest('form[data-action]');
    if (!form || form.closest('dialog')) return;
    event.preventDefault();
    ask(form, done);
  });
}
