// How a curve is drawn: a document of /v1/programs/NAME/curve, made ready once, and then drawn for a
// view as often as it is asked for. Knows no element but the canvas context that it is given.
//
// A view is {from, to} in units of its x ('step', 'tokens' or 'time' in milliseconds). What a frame
// costs is bounded by buckets and pixels, not by steps or attempts: what would lie on the same
// pixels is drawn once.

export const modes = ['step', 'tokens', 'time'];
const margin = {left: 52, right: 10, top: 24, bottom: 24};

// ---- what a document says, by x

const whole = (n) => Math.round(n).toLocaleString('en-US');
export function number(n) {
  if (n === null || n === undefined || !Number.isFinite(n)) return 'not a number';
  const size = Math.abs(n);
  if (size >= 1e4 || (size >= 100 && Number.isInteger(n))) return whole(n);
  if (size !== 0 && size < 1e-3) return n.toExponential(2);
  return String(Number(n.toPrecision(4)));
}
const short = (n) => (n >= 1e9 ? `${+(n / 1e9).toPrecision(4)} G`
  : n >= 1e6 ? `${+(n / 1e6).toPrecision(4)} M` : n >= 1e4 ? `${+(n / 1e3).toPrecision(4)} k` : number(n));

// The document with its x in every mode; what the daemon leaves out is empty.
export function ready(doc) {
  const c = doc.columns ?? {};
  const step = c.step ?? [];
  const middle = (doc.bucket_steps - 1) / 2;
  const data = {
    ...doc, n: step.length, min: c.min ?? [], max: c.max ?? [], mean: c.mean ?? [], nan: c.nan ?? [],
    attempt: c.attempt ?? [], first: step, lost: doc.lost ?? [], attempts: doc.attempts ?? [],
    evaluations: doc.evaluations ?? {step: [], loss: []}, checkpoints: doc.checkpoints ?? [],
    x: {step: step.map((s) => Math.min(s + middle, Math.max(s, doc.newest_step ?? s))), tokens: c.tokens ?? [], time: c.at_ms ?? []},
    tail: [],
  };
  return data;
}

// The first index whose value is not below `value`; nulls count as what stands before them.
export function below(values, value) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? -Infinity) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function between(from, to, value) {
  const i = Math.min(Math.max(below(from, value), 1), from.length - 1);
  if (from.length < 2) return to[0] ?? value;
  const span = from[i] - from[i - 1];
  const share = span > 0 ? (value - from[i - 1]) / span : 0;
  return to[i - 1] + (to[i] - to[i - 1]) * Math.min(Math.max(share, 0), 1);
}
export const at = (data, mode, step) => (mode === 'step' ? step : between(data.x.step, data.x[mode], step));
export const step_at = (data, mode, x) => (mode === 'step' ? x : between(data.x[mode], data.x.step, x));

export function span(data, mode, now) {
  const running = data.attempts.find((a) => !a.ended_ms);
  const x = data.x[mode];
  const tail = data.tail.at(-1);
  let from = mode === 'step' ? data.first_step ?? 0 : x.find((v) => v !== null) ?? 0;
  let to = mode === 'step' ? data.newest_step ?? 1 : x.findLast((v) => v !== null) ?? 1;
  if (mode === 'time' && data.attempts.length) {
    from = Math.min(from, data.attempts[0].began_ms);
    to = Math.max(to, running ? now : data.attempts.at(-1).ended_ms);
  }
  if (mode === 'step' && tail) to = Math.max(to, tail.step);
  return {from, to: to > from ? to : from + 1};
}

function shade_of(data, mode, attempt, now) {
  if (mode === 'time') return [attempt.began_ms, attempt.ended_ms || now];
  const first = attempt.first_step ?? attempt.resume_step ?? 0;
  return [at(data, mode, first), at(data, mode, Math.max(attempt.last_step ?? first, first))];
}
export const end_of = (data, mode, attempt, now) => shade_of(data, mode, attempt, now)[1];

// ---- axes

function ticks(from, to, most) {
  const rough = (to - from) / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((f) => f * power >= rough) ?? 10);
  const list = [];
  for (let i = Math.ceil(from / step); i * step <= to && list.length < 50; ++i) list.push(i * step);
  return list;
}
const minute = 60_000;
const spans = [1000, 5000, 15_000, 30_000, minute, 5 * minute, 15 * minute, 30 * minute, 60 * minute,
  180 * minute, 360 * minute, 720 * minute, 1440 * minute, 2880 * minute, 10080 * minute, 40320 * minute];
function time_ticks(from, to, most, utc) {
  const step = spans.find((s) => (to - from) / s <= most) ?? (to - from) / most;
  const zone = utc ? 0 : new Date(from).getTimezoneOffset() * minute;
  const list = [];
  for (let t = Math.ceil((from - zone) / step) * step + zone; t <= to && list.length < 50; t += step) list.push(t);
  const form = step >= 1440 * minute ? {month: 'short', day: 'numeric'}
    : {hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...(step < minute ? {second: '2-digit'} : {})};
  const words = new Intl.DateTimeFormat(undefined, {...form, ...(utc ? {timeZone: 'UTC'} : {})});
  return list.map((t) => [t, words.format(t)]);
}
function log_ticks(low, high, most) {
  const list = [];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high && list.length < 50; power *= 10) {
    for (const f of [1, 2, 5]) if (f * power >= low && f * power <= high) list.push(f * power);
  }
  return list.length >= 3 ? list : ticks(low, high, most);
}

// What lies in the view, a little more so that lines leave the picture, and how high it is.
function extent(data, view) {
  const x = data.x[view.mode];
  const from = Math.max(below(x, view.from) - 1, 0);
  const to = Math.min(below(x, view.to) + 1, data.n);
  let low = Infinity;
  let high = -Infinity;
  const take = (v) => {
    if (v === null || !Number.isFinite(v) || (view.log && v <= 0)) return;
    if (v < low) low = v;
    if (v > high) high = v;
  };
  for (let i = from; i < to; ++i) {
    take(data.min[i]);
    take(data.max[i]);
  }
  const seen = view.metric === 'loss' ? data.evaluations : {step: [], loss: []};
  for (let i = 0; i < seen.step.length; ++i) {
    const place = at(data, view.mode, seen.step[i]);
    if (place >= view.from && place <= view.to) take(seen.loss[i]);
  }
  for (const point of data.tail) take(point.value);
  if (low > high) [low, high] = view.log ? [0.1, 10] : [0, 1];
  if (view.log) {
    const room = (high / low) ** 0.06 * 1.01;
    return {from, to, low: low / room, high: high * room};
  }
  const room = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
  return {from, to, low: low - room, high: high + room};
}

// Where things lie: the same for drawing and for the pointer.
export function layout(width, height, data, view) {
  const {from, to, low, high} = extent(data, view);
  const right = width - margin.right;
  const bottom = height - margin.bottom;
  const per = (right - margin.left) / (view.to - view.from);
  const [base, top] = view.log ? [Math.log(low), Math.log(high)] : [low, high];
  const up = (bottom - margin.top) / (top - base);
  return {
    width, height, right, bottom, left: margin.left, top: margin.top, low, high, first: from, last: to,
    x: (v) => margin.left + (v - view.from) * per,
    y: (v) => bottom - ((view.log ? Math.log(v > 0 ? v : low) : v) - base) * up,
    back: (px) => view.from + (px - margin.left) / per,
  };
}

// ---- the picture

function axes(g, at_, data, view, look) {
  g.font = look.font;
  g.lineWidth = 1;
  g.strokeStyle = look.grid;
  g.fillStyle = look.soft;
  g.textAlign = 'right';
  g.textBaseline = 'middle';
  const rows = (at_.bottom - at_.top) / 48;
  g.beginPath();
  for (const v of view.log ? log_ticks(at_.low, at_.high, rows) : ticks(at_.low, at_.high, rows)) {
    const y = Math.round(at_.y(v)) + 0.5;
    g.moveTo(at_.left, y);
    g.lineTo(at_.right, y);
    g.fillText(v >= 1e4 ? short(v) : number(Number(v.toPrecision(6))), at_.left - 6, y);
  }
  g.stroke();
  const most = (at_.right - at_.left) / 84;
  const list = view.mode === 'time' ? time_ticks(view.from, view.to, most, view.utc)
    : ticks(view.from, view.to, most).map((v) => [v, view.mode === 'tokens' || view.to >= 1e7 ? short(v) : whole(v)]);
  g.textBaseline = 'alphabetic';
  let free = 0;
  for (const [v, words] of list) {
    const half = g.measureText(words).width / 2;
    const x = Math.min(Math.max(at_.x(v), half + 2), at_.width - half - 2);
    if (x - half < free) continue;
    free = x + half + 8;
    g.textAlign = 'center';
    g.fillText(words, x, at_.height - 6);
    g.fillRect(Math.round(at_.x(v)), at_.bottom, 1, 4);
  }
}

function shades(g, at_, data, view, look) {
  g.fillStyle = look.shade;
  g.beginPath();
  let done = -Infinity;
  for (const attempt of data.attempts) {
    if (attempt.attempt % 2 === 0) continue;
    const [from, to] = shade_of(data, view.mode, attempt, view.now).map(at_.x);
    if (to < at_.left || from > at_.right || to - from < 1 || to <= done + 1) continue;
    g.rect(Math.max(from, at_.left), at_.top, Math.min(to, at_.right) - Math.max(from, at_.left), at_.bottom - at_.top);
    done = to;
  }
  g.fill();
}

// By time the line ends with its attempt, so that what came between is seen as a gap.
const parts = (data, view, i) => view.mode === 'time' && i > 0 && data.attempt[i] !== data.attempt[i - 1];

function line(g, at_, xs, ys, from, to, colour, width, dash, cut = () => false) {
  g.strokeStyle = colour;
  g.lineWidth = width;
  g.setLineDash(dash);
  g.lineJoin = 'round';
  g.beginPath();
  let pen = false;
  let before = -Infinity;
  for (let i = from; i < to; ++i) {
    if (xs[i] === null || ys[i] === null || !Number.isFinite(ys[i])) { pen = false; continue; }
    if (pen && xs[i] >= before && !cut(i)) g.lineTo(at_.x(xs[i]), at_.y(ys[i]));
    else { g.moveTo(at_.x(xs[i]), at_.y(ys[i])); g.lineTo(at_.x(xs[i]) + 0.5, at_.y(ys[i])); }
    before = xs[i];
    pen = true;
  }
  g.stroke();
  g.setLineDash([]);
}

function band(g, at_, data, view, look) {
  const xs = data.x[view.mode];
  g.fillStyle = look.band;
  g.beginPath();
  let from = at_.first;
  const good = (i) => xs[i] !== null && data.min[i] !== null && data.max[i] !== null;
  for (let i = at_.first; i <= at_.last; ++i) {
    if (i < at_.last && good(i) && (i === from || (xs[i] >= xs[i - 1] && !parts(data, view, i)))) continue;
    if (i - from > 1) {
      g.moveTo(at_.x(xs[from]), at_.y(data.max[from]));
      for (let j = from + 1; j < i; ++j) g.lineTo(at_.x(xs[j]), at_.y(data.max[j]));
      for (let j = i - 1; j >= from; --j) g.lineTo(at_.x(xs[j]), at_.y(data.min[j]));
      g.closePath();
    }
    from = i < at_.last && good(i) ? i : i + 1;
  }
  g.fill();
}

// Too many ends to tell apart: how many lie where.
function crowd(g, at_, cells, look) {
  const most = Math.max(...cells.map((cell) => cell.count));
  for (const {x, count, fault} of cells) {
    const high = 3 + 11 * count / most;
    g.fillStyle = fault ? look.crash : look.soft;
    g.fillRect(x - 2, at_.top - 1 - high, 7, high);
  }
  g.textAlign = 'right';
  g.textBaseline = 'alphabetic';
  g.fillStyle = look.crash_ink;
  g.fillText(`${whole(cells.reduce((sum, cell) => sum + cell.count, 0))}`, at_.left - 6, at_.top - 3);
}

// Ends of attempts, those that would overlap as one with their number; a fault is filled, an end
// that nobody has to worry about is hollow.
function ends(g, at_, data, view, look) {
  const cells = [];
  for (const attempt of data.attempts) {
    if (!attempt.ended_ms) continue;
    const x = at_.x(end_of(data, view.mode, attempt, view.now));
    if (x < at_.left - 1 || x > at_.right + 1) continue;
    const fault = !view.faultless.has(attempt.cause);
    const last = cells.at(-1);
    if (last && x - last.x < 16) {
      ++last.count;
      last.fault ||= fault;
      if (last.cause !== attempt.cause) last.cause = '';
    } else cells.push({x, count: 1, fault, cause: attempt.cause});
  }
  if (cells.length > 30) return crowd(g, at_, cells, look);
  g.lineWidth = 1;
  g.setLineDash([2, 3]);
  g.strokeStyle = look.crash;
  g.beginPath();
  for (const {x, fault} of cells) {
    if (!fault) continue;
    g.moveTo(Math.round(x) + 0.5, at_.top);
    g.lineTo(Math.round(x) + 0.5, at_.bottom);
  }
  g.stroke();
  g.setLineDash([]);
  g.textBaseline = 'alphabetic';
  g.textAlign = 'left';
  let free = -Infinity;
  cells.forEach(({x, count, fault, cause}, i) => {
    g.beginPath();
    g.moveTo(x - 5, at_.top - 8);
    g.lineTo(x + 5, at_.top - 8);
    g.lineTo(x, at_.top);
    g.closePath();
    g.fillStyle = fault ? look.crash : look.ground;
    g.strokeStyle = fault ? look.crash : look.soft;
    g.fill();
    g.stroke();
    const words = [count > 1 ? `${count} ×` : '', cause.replaceAll('_', ' ')].join(' ').trim();
    const length = g.measureText(words).width;
    const start = Math.min(x - 4, at_.right - length);
    const next = cells[i + 1]?.x ?? Infinity;
    if (!words || start < free || start + length > next - 8 + (next === Infinity ? 1e9 : 0)) return;
    free = start + length + 6;
    g.fillStyle = fault ? look.crash_ink : look.soft;
    g.fillText(words, start, at_.top - 11);
  });
}

function marks(g, at_, data, view, look) {
  let done = -Infinity;
  for (const {step, state} of data.checkpoints) {
    const x = Math.round(at_.x(at(data, view.mode, step)));
    if (x < at_.left || x > at_.right || x - done < 8) continue;
    done = x;
    g.fillStyle = state === 'corrupt' ? look.crash : look.soft;
    g.fillRect(x - 1, at_.bottom - 7, 2, 7);
  }
  g.fillStyle = look.crash;
  done = -Infinity;
  for (let i = at_.first; i < at_.last; ++i) {  // steps whose loss was no number: a cross at the foot
    const x = at_.x(data.x[view.mode][i]);
    if (!data.nan[i] || x - done < 6) continue;
    done = x;
    g.fillRect(x - 4, at_.bottom - 13, 8, 2);
    g.fillRect(x - 1, at_.bottom - 16, 2, 8);
  }
  if (view.metric !== 'loss') return;
  g.fillStyle = look.ground;
  g.strokeStyle = look.held_out;
  g.lineWidth = 2;
  done = -Infinity;
  data.evaluations.step.forEach((step, i) => {
    const loss = data.evaluations.loss[i];
    const x = at_.x(at(data, view.mode, step));
    if (loss === null || x < at_.left || x > at_.right || x - done < 4) return;
    done = x;
    g.beginPath();
    g.arc(x, at_.y(loss), 3.5, 0, 7);
    g.fill();
    g.stroke();
  });
}

// Where steps lie that were lost: by time in the attempt that made them, for those made again came later.
function lost_x(data, view, {attempt, step}) {
  if (view.mode === 'step') return step;
  const of = view.mode === 'time' && data.attempts.find((a) => a.attempt === attempt);
  if (!of) return step.map((s) => at(data, view.mode, s));
  const first = of.resume_step ?? of.first_step ?? 0;
  const [began, ended] = shade_of(data, 'time', of, view.now);
  return step.map((s) => began + (ended - began) * (s - first) / Math.max((of.last_step ?? s) - first, 1));
}

export function draw(g, at_, data, view, look) {
  g.clearRect(0, 0, at_.width, at_.height);
  shades(g, at_, data, view, look);
  axes(g, at_, data, view, look);
  g.save();
  g.beginPath();
  g.rect(at_.left, 0, at_.right - at_.left, at_.bottom);
  g.clip();
  band(g, at_, data, view, look);
  if (view.metric === 'loss') {
    for (const lost of data.lost) {
      const xs = lost_x(data, view, lost);
      if (xs.length && at_.x(xs.at(-1)) - at_.x(xs[0]) > 3) line(g, at_, xs, lost.mean, 0, xs.length, look.ghost, 1.5, [4, 3]);
    }
  }
  line(g, at_, data.x[view.mode], data.mean, at_.first, at_.last, look.line, 1.75, [], (i) => parts(data, view, i));
  if (view.mode === 'step' && data.tail.length) {
    const last = data.n - 1;
    const xs = [data.x.step[last] ?? null, ...data.tail.map((p) => p.step)];
    const ys = [data.mean[last] ?? null, ...data.tail.map((p) => p.value)];
    line(g, at_, xs, ys, 0, xs.length, look.line, 1.75, []);
  }
  marks(g, at_, data, view, look);
  g.restore();
  g.fillStyle = look.edge;
  g.fillRect(at_.left, at_.bottom, at_.right - at_.left, 1);
  ends(g, at_, data, view, look);
}

// What stands at an x, in words; `time` says a moment as people read it.
export function words_at(data, view, x, reach, time) {
  const place = below(data.x[view.mode], x);
  const near = [place - 1, place].filter((i) => i >= 0 && i < data.n);
  if (!near.length) return {text: 'nothing yet', x};
  const distance = (i) => Math.abs((data.x[view.mode][i] ?? Infinity) - x);
  const i = near.length > 1 && distance(near[0]) < distance(near[1]) ? near[0] : near.at(-1);
  const last = Math.min(data.first[i] + data.bucket_steps - 1, data.newest_step ?? Infinity);
  const parts = [last > data.first[i] ? `steps ${whole(data.first[i])} to ${whole(last)}` : `step ${whole(data.first[i])}`];
  const wide = data.min[i] !== data.max[i] ? ` (${number(data.min[i])} to ${number(data.max[i])})` : '';
  parts.push(`${view.metric.replaceAll('_', ' ')} ${number(data.mean[i])}${wide}`);
  if (data.nan[i]) parts.push(`${whole(data.nan[i])} not a number`);
  if (data.attempt[i]) parts.push(`attempt ${data.attempt[i]}`);
  if (data.x.tokens[i]) parts.push(`${short(data.x.tokens[i])} tokens`);
  if (data.x.time[i]) parts.push(time(data.x.time[i]));
  for (const {step, loss} of data.evaluations.step.map((s, k) => ({step: s, loss: data.evaluations.loss[k]}))) {
    if (Math.abs(at(data, view.mode, step) - x) > reach) continue;
    parts.push(`held-out loss ${number(loss)} at step ${whole(step)}`);
    break;
  }
  const ended = data.attempts.filter((a) => a.ended_ms && Math.abs(end_of(data, view.mode, a, view.now) - x) <= reach);
  for (const a of ended.slice(-2)) {
    const lost = a.steps_lost ? `, ${whole(a.steps_lost)} steps lost` : '';
    parts.push(`attempt ${a.attempt} ended: ${(a.cause || 'cause not known').replaceAll('_', ' ')}${lost}`);
  }
  if (ended.length > 2) parts.push(`${ended.length - 2} more ended here`);
  return {text: parts.join(' · '), x: data.x[view.mode][i] ?? x, index: i};
}
