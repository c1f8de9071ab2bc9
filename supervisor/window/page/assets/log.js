// The log of a program, live: asked for by its offset while it is seen, searched, followed.
//
// Text goes in as text and never as markup. What is kept is bounded: the newest lines, and of each no
// more than a screen or two. Matches are painted by the browser's highlights, so a search changes
// nothing in the page; a browser without them still counts and jumps.

const most_lines = 5000;
const most_length = 4000;
const most_marks = 2000;
const first_bytes = 65_536;
const chunk = 262_144;

// What a terminal would show of a line: colours and cursor moves left out, of a progress bar what it
// was overwritten with last.
const escapes = /\x1b(?:\[[0-?]*[ -\/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g;
const controls = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
export function plain(line) {
  let text = line.replace(escapes, '').replace(/\r+$/, '');
  text = text.slice(text.lastIndexOf('\r') + 1).replace(controls, '\ufffd');
  return text.length > most_length ? `${text.slice(0, most_length)} … ${text.length - most_length} more characters` : text;
}

export class Log {
  constructor(pre) {
    this.pre = pre;
    this.source = pre.dataset.source;
    this.stream = pre.dataset.stream || 'stdout';
    this.ended = new AbortController();
    this.search = document.getElementById('log-search');
    this.follow = document.getElementById('log-follow');
    this.build();
    this.seen = new IntersectionObserver(([entry]) => {
      this.visible = entry.isIntersecting;
      this.soon(0);
    });
    this.seen.observe(pre);
    this.restart();
  }

  close() {
    this.ended.abort();
    this.seen.disconnect();
    clearTimeout(this.timer);
  }

  build() {
    const {signal} = this.ended;
    const on = (node, name, act) => node?.addEventListener(name, act, {signal});
    this.pre.tabIndex = 0;
    this.pre.dataset.live = '';
    const bar = this.search?.closest('.log-tools, form, p, div') ?? this.search?.parentElement;
    this.found = document.getElementById('log-found');
    if (!this.found && bar) {
      this.found = document.createElement('output');
      this.found.id = 'log-found';
      this.found.dataset.live = '';
      this.search.after(this.found);
    }
    this.select = document.getElementById('log-stream');
    if (!this.select && bar) {
      this.select = document.createElement('select');
      this.select.id = 'log-stream';
      this.select.dataset.live = '';
      this.select.setAttribute('aria-label', 'which log');
      this.select.append(new Option('stdout'), new Option('stderr'));
      bar.prepend(this.select);
    }
    if (this.select) this.select.value = this.stream;
    on(this.select, 'change', () => {
      this.stream = this.select.value;
      this.restart();
    });
    on(this.search, 'input', () => {
      this.here = -1;
      this.mark();
    });
    on(this.search, 'keydown', (event) => {
      if (event.key === 'Enter') {
        event.preventDefault();
        this.jump(event.shiftKey ? -1 : 1);
      } else if (event.key === 'Escape') {
        this.search.value = '';
        this.mark();
        this.pre.focus();
      }
    });
    on(this.search?.form, 'submit', (event) => event.preventDefault());
    on(this.follow, 'click', () => this.set_follow(!this.following));
    on(this.pre, 'scroll', () => {
      const {scrollTop, scrollHeight, clientHeight} = this.pre;
      const at_end = scrollHeight - scrollTop - clientHeight < 24;
      if (scrollTop < this.top - 4 && !at_end) this.set_follow(false);
      else if (at_end && !this.following && scrollTop > this.top) this.set_follow(true);
      this.top = scrollTop;
    });
    on(document, 'visibilitychange', () => this.soon(0));
    this.top = 0;
    this.following = true;
    this.here = -1;
  }

  set_follow(on) {
    this.following = on;
    this.follow?.setAttribute('aria-pressed', on);
    if (on) this.to_end();
  }
  to_end() {
    this.pre.scrollTop = this.pre.scrollHeight;
    this.top = this.pre.scrollTop;
  }

  restart() {
    this.offset = -first_bytes;
    this.attempt = null;
    this.decoder = new TextDecoder();
    this.open_line = '';
    this.blank = true;  // what the renderer wrote stays until the first answer
    this.turn = (this.turn ?? 0) + 1;
    this.soon(0);
  }

  soon(ms) {
    clearTimeout(this.timer);
    if (!this.ended.signal.aborted) this.timer = setTimeout(() => this.poll(), ms);
  }

  async poll() {
    if (document.hidden || !this.visible || !this.pre.isConnected) return;
    if (this.busy) return this.soon(200);
    this.busy = true;
    const {turn} = this;
    let wait = 2000;
    try {
      const query = new URLSearchParams({stream: this.stream, offset: this.offset, limit: chunk});
      const signal = AbortSignal.any([this.ended.signal, AbortSignal.timeout(20_000)]);
      const answer = await fetch(`${this.source}?${query}`, {signal, cache: 'no-store'});
      const bytes = new Uint8Array(await answer.arrayBuffer());
      if (answer.ok && turn === this.turn) wait = this.take(answer.headers, bytes);
      else if (answer.status === 404 && turn === this.turn && this.blank) this.say_empty();
    } catch { /* the page says that the connection is lost; asked for again */ }
    this.busy = false;
    this.soon(turn === this.turn ? wait : 0);
  }

  take(headers, bytes) {
    const size = Number(headers.get('X-Log-Size'));
    const attempt = Number(headers.get('X-Log-Attempt'));
    const known = headers.get('X-Log-Offset');
    const begin = known === null ? Math.max(size - bytes.length, 0) : Number(known);
    if (this.attempt !== null && attempt !== this.attempt) {
      this.flush();
      this.add([`— attempt ${attempt} —`], 'gap');
      this.attempt = attempt;
      this.offset = 0;
      return 0;
    }
    this.attempt = attempt;
    if (this.blank) {
      this.pre.replaceChildren();
      this.blank = false;
      this.cut = begin > 0;  // begins in the middle of a line
      if (size === 0) this.say_empty();
    } else if (begin > this.offset) {
      this.flush();
      this.add([`— ${(begin - this.offset).toLocaleString('en-US')} bytes are no longer kept —`], 'gap');
    } else if (size < this.offset) {  // emptied
      this.restart();
      return 0;
    }
    if (bytes.length && this.empty) {
      this.empty.remove();
      this.empty = null;
    }
    this.offset = begin + bytes.length;
    this.append(this.decoder.decode(bytes, {stream: true}));
    return this.offset < size ? 0 : bytes.length ? 1000 : 2000;
  }

  say_empty() {
    this.pre.replaceChildren();
    this.blank = false;
    this.add([`nothing on ${this.stream} yet`], 'gap');
    this.empty = this.pre.lastChild;
    if (this.offset < 0) this.offset = 0;
  }

  append(text) {
    if (!text) return;
    const lines = (this.open_line + text).split('\n');
    this.open_line = lines.pop();
    if (this.open_line.length > chunk) this.open_line = this.open_line.slice(-chunk);
    if (this.cut && lines.length) {
      lines.shift();
      this.cut = false;
    }
    this.partial?.remove();
    this.partial = null;
    this.add(lines.slice(-most_lines));
    if (this.open_line && !this.cut) {
      this.add([this.open_line]);
      this.partial = this.pre.lastChild;
    }
    this.mark();
  }

  // The last line is over although no end of it was seen.
  flush() {
    this.partial = null;
    this.open_line = '';
    this.decoder = new TextDecoder();
  }

  add(lines, kind) {
    const more = document.createDocumentFragment();
    for (const line of lines) {
      const node = document.createElement('span');
      if (kind) node.className = kind;
      node.textContent = `${plain(line)}\n`;
      more.append(node);
    }
    this.pre.append(more);
    const before = this.pre.scrollHeight;
    while (this.pre.childNodes.length > most_lines) this.pre.firstChild.remove();
    if (this.following) this.to_end();
    else {
      this.pre.scrollTop -= before - this.pre.scrollHeight;
      this.top = this.pre.scrollTop;
    }
  }

  // ---- search

  mark() {
    const wanted = this.search?.value.toLowerCase() ?? '';
    this.matches = [];
    if (wanted) {
      for (const node of this.pre.childNodes) {
        const text = node.textContent.toLowerCase();
        for (let i = text.indexOf(wanted); i >= 0 && this.matches.length < most_marks; i = text.indexOf(wanted, i + wanted.length)) {
          this.matches.push([node, i]);
        }
      }
    }
    const many = this.matches.length === most_marks ? `${most_marks} or more` : String(this.matches.length);
    const words = !wanted ? '' : this.matches.length === 0 ? 'not found' : this.here >= 0 ? `${this.here + 1} of ${many}` : `${many} found`;
    if (this.found && this.found.textContent !== words) this.found.textContent = words;
    if (!globalThis.Highlight || !CSS.highlights) return;
    const ranges = this.matches.map(([node, i]) => this.range(node, i, wanted.length)).filter(Boolean);
    CSS.highlights.set('found', new Highlight(...ranges));
    CSS.highlights.delete('here');
    if (this.here >= 0 && ranges[this.here]) CSS.highlights.set('here', new Highlight(ranges[this.here]));
  }
  range(node, from, length) {
    const text = node.firstChild;
    if (!text || text.nodeType !== 3 || from + length > text.length) return null;
    const range = new StaticRange({startContainer: text, startOffset: from, endContainer: text, endOffset: from + length});
    return range;
  }
  jump(by) {
    const {length} = this.matches ?? [];
    if (!length) return;
    this.here = this.here < 0 ? (by > 0 ? length - 1 : 0) : this.here + by;
    if (this.here >= length) this.here = 0;
    if (this.here < 0) this.here = length - 1;
    this.set_follow(false);
    this.matches[this.here][0].scrollIntoView({block: 'center'});
    this.mark();
  }
}
