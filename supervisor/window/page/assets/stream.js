// The one stream of a page: /v1/stream, read line by line, resumed where it ended.
//
// `fetch` instead of EventSource, because the page then sees what EventSource hides: the heartbeats,
// so that a line that died without a word is noticed, and a refusal, so that a page that is signed
// out says so instead of trying for ever. Closed while the page is hidden; goes on after the newest
// event that it has seen.

const silence_ms = 40_000;  // the daemon says something each 15 s
const retry_ms = [500, 1000, 2000, 2000, 4000];
const most_text = 1 << 20;  // of one message; longer ones are not ours

export class Stream {
  // `heard(name, data, id)` for each message; `changed(state)`, one of 'live', 'lost', 'refused', 'hidden'.
  constructor(query, {heard, changed}) {
    Object.assign(this, {query, heard, changed, last: '', tries: 0, state: ''});
    document.addEventListener('visibilitychange', () => (document.hidden ? this.close('hidden') : this.open()));
    addEventListener('pagehide', () => this.close('hidden'));
    addEventListener('pageshow', () => this.open());
    addEventListener('online', () => this.open());
    this.open();
  }

  tell(state) {
    if (state === this.state) return;
    this.state = state;
    this.changed(state);
  }

  close(state) {
    clearTimeout(this.timer);
    clearTimeout(this.watch);
    this.current?.abort();
    this.current = null;
    this.tell(state);
  }

  async open() {
    if (this.current || document.hidden) return;
    clearTimeout(this.timer);
    const mine = (this.current = new AbortController());
    let state = 'lost';
    try {
      const query = new URLSearchParams({...this.query, ...(this.last ? {after: this.last} : {})});
      this.listen(mine);
      const answer = await fetch(`/v1/stream?${query}`, {
        signal: mine.signal, cache: 'no-store', headers: this.last ? {'Last-Event-ID': this.last} : {},
      });
      if (answer.ok) await this.read(answer.body.getReader(), mine);
      else if (answer.status === 401 || answer.status === 403) state = 'refused';
      await answer.body?.cancel().catch(() => {});
    } catch { /* the line is cut; it is tried again below */ }
    if (this.current !== mine) return;  // closed on purpose meanwhile
    this.close(state);
    this.timer = setTimeout(() => this.open(), retry_ms[Math.min(this.tries++, retry_ms.length - 1)]);
  }

  // Cut when nothing is heard for so long.
  listen(mine) {
    clearTimeout(this.watch);
    this.watch = setTimeout(() => mine.abort(), silence_ms);
  }

  async read(reader, mine) {
    const decoder = new TextDecoder();
    let rest = '';
    let message = {name: 'message', data: '', id: ''};
    for (;;) {
      const {done, value} = await reader.read();
      if (done || this.current !== mine) return;
      this.listen(mine);
      const lines = (rest + decoder.decode(value, {stream: true})).split(/\r\n|\n|\r/);
      rest = lines.pop();
      if (rest.length + message.data.length > most_text) return;
      for (const line of lines) {
        if (line === '') {
          if (message.data) this.take(message);
          message = {name: 'message', data: '', id: ''};
          continue;
        }
        const [, field, text] = /^([^:]*):? ?(.*)$/s.exec(line);
        if (field === 'event') message.name = text;
        else if (field === 'data') message.data += (message.data && '\n') + text;
        else if (field === 'id') message.id = text;
      }
    }
  }

  take({name, data, id}) {
    let value;
    try {
      value = JSON.parse(data);
    } catch {
      return;
    }
    if (id) this.last = id;
    if (name === 'reset') this.last = '';
    this.tries = 0;
    this.tell('live');
    this.heard(name, value, id);
  }
}
