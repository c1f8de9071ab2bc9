// Times as people read them: the daemon's clock, in the reader's zone or in UTC, with ages that go on.
//
// A <time datetime="…"> shows the moment and says its age when asked; one with `data-age` shows the
// age and says the moment. What the renderer wrote is UTC, and stays so without this script.

const kept = 'trainward.utc';
const day = 86_400_000;

// Storage may be refused by the browser; the choice then lasts as long as the page.
export function choice(key, value) {
  try {
    if (value === undefined) return localStorage.getItem(key);
    localStorage.setItem(key, value);
  } catch { /* not kept */ }
  return null;
}

export function age_words(ms) {
  const s = Math.max(Math.round(ms / 1000), 0);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3600)} h`;
}

export class Times {
  constructor(now_ms) {
    this.set(now_ms || Date.now());
    this.in_utc = choice(kept) === 'yes';
    this.forms = new Map();
  }
  set(now_ms) {
    this.base = now_ms - performance.now();
  }
  now() {
    return this.base + performance.now();
  }
  utc() {
    return this.in_utc;
  }
  turn() {
    this.in_utc = !this.in_utc;
    choice(kept, this.in_utc ? 'yes' : 'no');
  }

  form(name, options) {
    const key = `${name}${this.in_utc}`;
    if (!this.forms.has(key)) {
      const zone = this.in_utc ? {timeZone: 'UTC'} : {};
      this.forms.set(key, new Intl.DateTimeFormat('en-CA', {hourCycle: 'h23', ...zone, ...options}));
    }
    return this.forms.get(key);
  }
  day_of(ms) {
    return this.form('day', {year: 'numeric', month: '2-digit', day: '2-digit'}).format(ms);
  }
  clock(ms) {
    return this.form('clock', {hour: '2-digit', minute: '2-digit', second: '2-digit'}).format(ms);
  }
  // 14:02:11 of today, otherwise with its date.
  say(ms) {
    const date = this.day_of(ms);
    const zone = this.in_utc ? ' UTC' : '';
    return date === this.day_of(this.now()) ? this.clock(ms) + zone : `${date} ${this.clock(ms)}${zone}`;
  }
  ago(ms) {
    const past = this.now() - ms;
    return past < 0 ? `in ${age_words(-past)}` : `${age_words(past)} ago`;
  }

  // Writes what has changed and nothing else, so that what is selected stays so.
  show(root) {
    for (const node of root.querySelectorAll('time[datetime]')) {
      const ms = Date.parse(node.dateTime);
      if (Number.isNaN(ms)) continue;
      const [text, title] = 'age' in node.dataset ? [this.ago(ms), this.say(ms)] : [this.say(ms), this.ago(ms)];
      if (node.textContent !== text) node.textContent = text;
      if (node.title !== title) node.title = title;
    }
  }
  show_ages(root) {
    for (const node of root.querySelectorAll('time[data-age]')) {
      const text = this.ago(Date.parse(node.dateTime));
      if (node.textContent !== text && !text.includes('NaN')) node.textContent = text;
    }
  }
}
