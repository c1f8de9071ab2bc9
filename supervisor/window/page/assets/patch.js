// Sections, brought up to date: asked for again with their tag, and changed only where they differ,
// so that the focus, what is unfolded, selected or scrolled stays as it is.
//
// Left alone: what a script looks after ([data-live]), and attributes that belong to the reader.

const of_the_reader = new Set(['open', 'aria-pressed', 'title', 'tabindex']);

const key_of = (node) => (node.nodeType === 1 ? node.id || node.dataset.key || '' : '');
const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && key_of(a) === key_of(b);
const live = (node) => node.nodeType === 1 && 'live' in node.dataset;

function patch_attributes(old, next) {
  const mine = (name) => of_the_reader.has(name) || (name === 'class' && old.matches('figure.curve'));
  for (const {name, value} of next.attributes) {
    if (old.getAttribute(name) !== value && !mine(name)) old.setAttribute(name, value);
  }
  for (const {name} of [...old.attributes]) {
    if (!next.hasAttribute(name) && !mine(name)) old.removeAttribute(name);
  }
}

function patch_node(old, next) {
  if (old.nodeType !== 1) {
    if (old.data !== next.data) old.data = next.data;
    return;
  }
  const same_time = old.nodeName === 'TIME' && old.dateTime === next.dateTime;
  patch_attributes(old, next);
  // A field keeps what was typed; a time that is the same keeps its words.
  if (!same_time && !['INPUT', 'TEXTAREA', 'SELECT'].includes(old.nodeName)) patch(old, next);
}

// Makes the children of `old` those of `next`.
export function patch(old, next) {
  const keyed = new Map();
  for (const node of old.children) if (key_of(node)) keyed.set(key_of(node), node);
  const skip = (node) => {
    while (node && live(node)) node = node.nextSibling;
    return node;
  };
  let place = skip(old.firstChild);
  for (const child of [...next.childNodes]) {
    const known = key_of(child) && keyed.get(key_of(child));
    if (known && live(known)) continue;
    if (known && known !== place && alike(known, child)) {
      old.insertBefore(known, place);
      patch_node(known, child);
    } else if (place && alike(place, child)) {
      patch_node(place, child);
      place = skip(place.nextSibling);
    } else {
      old.insertBefore(child, place);
    }
  }
  while (place) {
    const gone = place;
    place = skip(place.nextSibling);
    gone.remove();
  }
}

export class Sections {
  // `changed(section)` after each that was patched.
  constructor(changed) {
    this.changed = changed;
    this.tags = new Map();     // source: tag of what is shown
    this.waiting = new Set();  // ids
    this.at = this.hurried_at = -Infinity;
  }

  // Asks for these again: at once, or a second after the last time, together with all that come
  // meanwhile. In a hurry (something has happened) only the last hurry counts.
  ask(ids, hurry = false) {
    for (const id of ids) this.waiting.add(id);
    this.hurry ||= hurry;
    if (this.busy) return;
    clearTimeout(this.timer);
    const wait = Math.max((this.hurry ? this.hurried_at : this.at) + 1000 - performance.now(), 0);
    this.timer = setTimeout(() => this.fetch_all(), wait);
  }

  async fetch_all() {
    if (document.hidden) return;  // asked for again when it is seen
    this.busy = true;
    this.at = performance.now();
    if (this.hurry) this.hurried_at = this.at;
    this.hurry = false;
    const sections = [...this.waiting].map((id) => document.getElementById(id)).filter((node) => node?.dataset.source);
    this.waiting.clear();
    await Promise.allSettled(sections.map((section) => this.fetch_one(section)));
    this.busy = false;
    if (this.waiting.size) this.ask([]);
  }

  async fetch_one(section) {
    const {source} = section.dataset;
    const tag = this.tags.get(source);
    const answer = await fetch(source, {headers: tag ? {'If-None-Match': tag} : {}, signal: AbortSignal.timeout(20_000)});
    if (!answer.ok) {
      await answer.body?.cancel();
      return;
    }
    const text = await answer.text();
    this.tags.set(source, answer.headers.get('ETag') ?? '');
    const template = document.createElement('template');
    template.innerHTML = text;  // the daemon's own page, made by the same renderer
    patch(section, template.content);
    this.changed(section);
  }
}
