// The curve of a program, alive: what is seen of it, how that is moved, and what is fetched for it.
//
// It keeps two documents at most: the whole run, and the range that is looked at where that has more
// to show. Drawing happens once a frame, and only when something has changed; the cursor lies on a
// canvas of its own, so moving it draws no curve.

const metrics = [['loss', 'loss'], ['grad_norm', 'gradient norm'], ['learning_rate', 'learning rate'],
  ['tokens_per_second', 'tokens a second']];
const legend = [
  ['<path class="band" d="M0 1H24V11H0Z"/><path class="mean" d="M0 6H24"/>', 'mean, lowest to highest'],
  ['<path class="ghost" d="M0 6H24"/>', 'lost and made again'],
  ['<circle class="held-out" cx="12" cy="6" r="3.5"/>', 'held-out loss'],
  ['<path class="crash" d="M7 2H17L12 10Z"/>', 'an attempt failed'],
  ['<path class="checkpoint" d="M12 2V12"/>', 'checkpoint'],
];
const most_tail = 600;

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

export class Curve {
  // `plot` is plot.js; `clock.now()` the daemon's time, `clock.utc()` and `clock.say(ms)` how times
  // are shown.
  constructor(figure, plot, clock) {
    Object.assign(this, {figure, plot, clock});
    this.source = figure.dataset.source;
    this.faultless = new Set(['', ...(figure.dataset.faultless ?? '').split(' ')]);
    this.mode = 'step';
    this.metric = 'loss';
    this.log = false;
    this.view = null;  // null: all of it
    this.whole = this.part = this.cursor = this.drag = null;
    this.pointers = new Map();
    this.ended = new AbortController();
    this.build();
    this.observe();
    this.refresh();
  }

  close() {
    this.ended.abort();
    this.sizes.disconnect();
    clearTimeout(this.wait);
    this.live.remove();
    this.figure.classList.remove('drawn');
  }

  // ---- what it is made of

  build() {
    const choice = (label, list, pick) => {
      const box = element('select', {}, ...list.map(([value, words]) => element('option', {value}, words)));
      box.addEventListener('change', () => pick(box.value), {signal: this.ended.signal});
      return element('label', {}, label, box);
    };
    const button = (text, words, act) => {
      const made = element('button', {type: 'button', 'aria-label': words, title: words}, text);
      made.addEventListener('click', act, {signal: this.ended.signal});
      return made;
    };
    this.log_button = button('log', 'logarithmic scale', () => {
      this.log = !this.log;
      this.log_button.setAttribute('aria-pressed', this.log);
      this.paint();
    });
    this.log_button.setAttribute('aria-pressed', 'false');
    const tools = element('div', {class: 'curve-tools'},
      choice('Show', metrics, (value) => { this.metric = value; this.whole = this.part = null; this.tag = ''; this.refresh(); }),
      choice('by', [['step', 'step'], ['tokens', 'tokens'], ['time', 'time']], (value) => this.set_mode(value)),
      this.log_button,
      element('span', {class: 'zoom'}, button('−', 'zoom out', () => this.zoom(2)), button('+', 'zoom in', () => this.zoom(0.5)),
        button('all', 'show the whole run', () => this.show(null))));
    this.canvas = element('canvas', {'aria-hidden': 'true'});
    this.glass = element('canvas', {
      tabindex: '0', role: 'slider', 'aria-label': 'position on the curve', 'aria-orientation': 'horizontal',
      'aria-valuemin': '0', 'aria-valuemax': '1', 'aria-valuenow': '0', 'aria-valuetext': 'no data yet',
    });
    this.box = element('div', {class: 'curve-plot whole'}, this.canvas, this.glass);
    this.readout = element('p', {class: 'curve-readout'});
    const list = element('ul', {class: 'curve-legend'});
    for (const [shape, words] of legend) {
      const item = element('li');
      item.innerHTML = `<svg viewBox="0 0 24 12" aria-hidden="true">${shape}</svg>`;  // from the table above
      item.append(words);
      list.append(item);
    }
    const coarse = matchMedia('(pointer: coarse)').matches;
    list.append(element('li', {}, coarse ? 'Touch to read, pinch to zoom' : 'Drag to zoom, arrow keys to read, ? for more'));
    this.live = element('div', {'data-live': ''}, tools, this.box, this.readout, list);
    this.figure.prepend(this.live);
    this.figure.classList.add('drawn');
  }

  observe() {
    const {signal} = this.ended;
    const on = (target, names, act, options = {}) =>
      names.split(' ').forEach((name) => target.addEventListener(name, act, {signal, ...options}));
    this.sizes = new ResizeObserver(() => this.paint());
    this.sizes.observe(this.box);
    for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)']) {
      on(matchMedia(query), 'change', () => { this.look = null; this.paint(); });
    }
    on(this.glass, 'pointerdown', (e) => this.down(e));
    on(this.glass, 'pointermove', (e) => this.move(e));
    on(this.glass, 'pointerup pointercancel', (e) => this.up(e));
    on(this.glass, 'pointerleave', () => { if (!this.drag) this.point(null); });
    on(this.glass, 'dblclick', () => this.show(null));
    on(this.glass, 'wheel', (e) => this.wheel(e), {passive: false});
    on(this.glass, 'keydown', (e) => this.key(e));
    on(this.glass, 'focus', () => { if (this.cursor === null) this.point(this.range().to); });
  }

  // ---- what is fetched

  async load(range, tag) {
    const wide = Math.min(Math.max(Math.ceil(this.box.clientWidth / 100) * 200, 400), 2000);
    const query = new URLSearchParams({metric: this.metric, buckets: wide, ...range});
    const signal = AbortSignal.any([this.ended.signal, AbortSignal.timeout(20_000)]);
    const answer = await fetch(`${this.source}?${query}`, {signal, headers: tag ? {'If-None-Match': tag} : {}});
    if (answer.status === 304) return null;
    if (!answer.ok) throw new Error(`curve: ${answer.status}`);
    return {doc: this.plot.ready(await answer.json()), tag: answer.headers.get('ETag') ?? ''};
  }

  // The whole run, if it has changed. Asked for again while it is under way: once more afterwards.
  async refresh() {
    if (this.loading) { this.again = true; return; }
    this.loading = true;
    try {
      const {metric} = this;
      const got = await this.load({}, this.whole ? this.tag : '');
      if (got && metric === this.metric) {
        const tail = (this.whole?.tail ?? []).filter((p) => p.step > (got.doc.newest_step ?? 0));
        this.whole = got.doc;
        this.whole.tail = tail;
        this.tag = got.tag;
        if (this.view) this.closer();
      }
    } catch (problem) {
      if (this.ended.signal.aborted) return;
    } finally {
      this.loading = false;
      this.fresh = performance.now();
    }
    if (this.again) { this.again = false; this.refresh(); }
    this.paint();
  }

  // The range that is looked at, with half of it again on either side, a moment after it was moved.
  closer() {
    clearTimeout(this.wait);
    this.wait = setTimeout(async () => {
      if (!this.view || !this.whole || this.whole.bucket_steps <= 1) return;
      const half = (this.view.to - this.view.from) / 2;
      const edge = (x) => Math.round(this.plot.step_at(this.whole, this.mode, x));
      const range = {from: Math.max(edge(this.view.from - half), 0), to: edge(this.view.to + half)};
      const asked = (this.asked = (this.asked ?? 0) + 1);
      try {
        const got = await this.load(range, '');
        if (asked !== this.asked || !got || got.doc.metric !== this.metric) return;
        Object.assign(got.doc, {attempts: this.whole.attempts, newest_step: this.whole.newest_step, covers: range});
        this.part = got.doc;
        this.paint();
      } catch { /* what is there stays; the next move asks again */ }
    }, 120);
  }

  // The newest step, as the stream tells it about once a second. The curve itself is asked for again
  // each few seconds.
  step(news) {
    if (!this.whole) return;
    const value = news[this.metric];
    const last = this.whole.tail.at(-1)?.step ?? this.whole.newest_step ?? -1;
    if (Number.isFinite(value) && news.step > last) {
      this.whole.tail.push({step: news.step, value});
      if (this.whole.tail.length > most_tail) this.whole.tail.splice(0, this.whole.tail.length - most_tail);
      this.paint();
    }
    if (news.step < last || performance.now() - (this.fresh ?? 0) > 5000) this.refresh();
  }

  // ---- what is seen

  range() {
    return this.view ?? this.plot.span(this.whole, this.mode, this.clock.now());
  }
  set_mode(mode) {
    const steps = this.view && [this.view.from, this.view.to].map((x) => this.plot.step_at(this.whole, this.mode, x));
    this.mode = mode;
    this.cursor = null;
    this.show(steps ? {from: this.plot.at(this.whole, mode, steps[0]), to: this.plot.at(this.whole, mode, steps[1])} : null);
  }
  show(view) {
    if (!this.whole) return;
    const all = this.plot.span(this.whole, this.mode, this.clock.now());
    if (view) {
      const least = this.mode === 'step' ? 4 : (all.to - all.from) / 1e6;
      const wide = Math.max(view.to - view.from, least);
      const from = Math.min(Math.max(view.from, all.from), Math.max(all.to - wide, all.from));
      view = wide >= (all.to - all.from) * 0.999 ? null : {from, to: from + wide};
    }
    this.view = view;
    if (view) this.closer();
    else this.part = null;
    this.box.classList.toggle('whole', !view);
    this.paint();
  }
  zoom(factor, around = this.cursor) {
    if (!this.whole) return;
    const {from, to} = this.range();
    const middle = around === null || around < from || around > to ? (from + to) / 2 : around;
    this.show({from: middle - (middle - from) * factor, to: middle + (to - middle) * factor});
  }
  pan(share) {
    if (!this.view) return;
    const by = (this.view.to - this.view.from) * share;
    this.show({from: this.view.from + by, to: this.view.to + by});
  }

  // The document that shows the most of the view.
  data() {
    const covers = this.part?.covers;
    if (!this.view || !covers) return this.whole;
    const [from, to] = [this.view.from, this.view.to].map((x) => this.plot.step_at(this.whole, this.mode, x));
    return covers.from <= from + 1 && covers.to >= to - 1 ? this.part : this.whole;
  }

  paint() {
    if (!this.frame) this.frame = requestAnimationFrame(() => { this.frame = 0; this.draw(); });
  }

  colours() {
    const style = getComputedStyle(this.figure);
    const of = (name) => style.getPropertyValue(`--${name}`).trim();
    return (this.look ??= {
      font: `12px ${of('sans') || 'sans-serif'}`, grid: of('curve-grid'), soft: of('soft'), edge: of('edge'), shade: of('curve-shade'),
      line: of('curve-line'), band: of('curve-band'), ghost: of('curve-ghost'), held_out: of('curve-held-out'),
      crash: of('curve-crash'), crash_ink: of('bad'), ground: of('card'), ink: of('ink'),
    });
  }

  draw() {
    if (!this.whole || !this.figure.isConnected) return;
    const {clientWidth: width, clientHeight: height} = this.box;
    if (!width || !height) return;
    const ratio = devicePixelRatio || 1;
    for (const canvas of [this.canvas, this.glass]) {
      const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
    }
    const data = this.data();
    const view = {...this.range(), mode: this.mode, metric: this.metric, log: this.log, utc: this.clock.utc(),
      now: this.clock.now(), faultless: this.faultless};
    this.at = this.plot.layout(width, height, data, view);
    const g = this.canvas.getContext('2d');
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.plot.draw(g, this.at, data, view, this.colours());
    this.seen = view;
    this.draw_cursor();
  }

  draw_cursor() {
    const g = this.glass.getContext('2d');
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, this.glass.width, this.glass.height);
    if (!this.at) return;
    const ratio = devicePixelRatio || 1;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    const {at, seen} = this;
    if (this.drag?.select) {
      g.fillStyle = this.colours().band;
      g.fillRect(this.drag.from, at.top, this.drag.to - this.drag.from, at.bottom - at.top);
    }
    const data = this.data();
    const shown = this.cursor ?? seen.to;
    const said = this.plot.words_at(data, seen, shown, at.back(at.left + 7) - seen.from, (ms) => this.clock.say(ms));
    this.readout.textContent = this.cursor === null ? `Newest: ${said.text}` : said.text;
    const set = (name, value) => this.glass.setAttribute(`aria-value${name}`, value);
    set('min', Math.round(seen.from));
    set('max', Math.round(seen.to));
    set('now', Math.round(Math.min(Math.max(said.x, seen.from), seen.to)));
    set('text', said.text);
    if (this.cursor === null) return;
    const x = Math.round(at.x(said.x)) + 0.5;
    g.strokeStyle = this.colours().ink;
    g.beginPath();
    g.moveTo(x, at.top);
    g.lineTo(x, at.bottom);
    g.stroke();
    const mean = data.mean[said.index];
    if (mean === null || mean === undefined) return;
    g.fillStyle = this.colours().ink;
    g.beginPath();
    g.arc(x, at.y(mean), 3.5, 0, 7);
    g.fill();
  }

  // ---- hands

  point(x) {
    this.cursor = x;
    cancelAnimationFrame(this.glance);
    this.glance = requestAnimationFrame(() => this.draw_cursor());
  }
  place(event) {
    return event.clientX - this.glass.getBoundingClientRect().left;
  }
  down(event) {
    if (!this.at || event.button) return;
    const x = this.place(event);
    this.pointers.set(event.pointerId, x);
    this.glass.setPointerCapture(event.pointerId);
    const select = event.pointerType === 'mouse' && (!this.view || event.shiftKey);
    this.drag = {select, from: x, to: x, view: this.range(), moved: false};
    if (this.pointers.size === 2) {
      const [a, b] = [...this.pointers.values()];
      this.drag = {pinch: [this.at.back(a), this.at.back(b)]};
    }
  }
  move(event) {
    if (!this.at) return;
    const x = this.place(event);
    if (this.pointers.has(event.pointerId)) this.pointers.set(event.pointerId, x);
    const {drag, at} = this;
    if (drag?.pinch && this.pointers.size === 2) {
      const [a, b] = [...this.pointers.values()];
      const per = (drag.pinch[1] - drag.pinch[0]) / (b - a);
      if (!(per > 0)) return;
      const from = drag.pinch[0] - (a - at.left) * per;
      this.show({from, to: from + (at.right - at.left) * per});
      return;
    }
    this.point(at.back(Math.min(Math.max(x, at.left), at.right)));
    if (!drag || drag.pinch) return;
    drag.to = Math.min(Math.max(x, at.left), at.right);
    drag.moved ||= Math.abs(x - drag.from) > 4;
    if (drag.moved && !drag.select && this.view) {
      const by = (drag.from - x) / (at.right - at.left) * (drag.view.to - drag.view.from);
      this.show({from: drag.view.from + by, to: drag.view.to + by});
    }
  }
  up(event) {
    this.pointers.delete(event.pointerId);
    const {drag} = this;
    this.drag = null;
    if (drag?.select && drag.moved && event.type === 'pointerup') {
      const [from, to] = [drag.from, drag.to].sort((a, b) => a - b).map(this.at.back);
      this.show({from, to});
    }
    this.point(this.cursor);
  }
  // The wheel scrolls the page unless the curve has the focus, or Ctrl is held (a pinch on a touchpad).
  wheel(event) {
    const mine = event.ctrlKey || document.activeElement === this.glass;
    if (!this.at || !mine) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(event.deltaX * unit / 1000);
    else this.zoom(Math.exp(event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.002)), this.at.back(this.place(event)));
  }
  key(event) {
    if (!this.at || event.altKey || event.metaKey || event.ctrlKey) return;
    const {from, to} = this.range();
    const data = this.data();
    const stride = event.shiftKey ? 10 : 1;
    const walk = (by) => {
      const xs = data.x[this.mode];
      const here = this.plot.words_at(data, this.seen, this.cursor ?? to, 0, String).index ?? 0;
      this.point(xs[Math.min(Math.max(here + by, 0), data.n - 1)] ?? to);
    };
    const jump = (sign) => {
      const list = data.attempts.filter((a) => a.ended_ms).map((a) => this.plot.end_of(data, this.mode, a, this.clock.now()));
      const here = this.cursor ?? (sign > 0 ? -Infinity : Infinity);
      const next = sign > 0 ? list.find((x) => x > here + 1e-9) : list.findLast((x) => x < here - 1e-9);
      if (next !== undefined) this.point(next);
    };
    const keys = {
      ArrowLeft: () => walk(-stride), ArrowRight: () => walk(stride), ArrowDown: () => walk(-stride), ArrowUp: () => walk(stride),
      Home: () => this.point(from), End: () => this.point(to), PageUp: () => this.pan(-0.5), PageDown: () => this.pan(0.5),
      '+': () => this.zoom(0.5), '=': () => this.zoom(0.5), '-': () => this.zoom(2), 0: () => this.show(null),
      n: () => jump(1), p: () => jump(-1), Escape: () => this.point(null),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
    if (this.cursor !== null && this.view && (this.cursor < this.view.from || this.cursor > this.view.to)) {
      const half = (this.view.to - this.view.from) / 2;
      this.show({from: this.cursor - half, to: this.cursor + half});
    }
  }
}
