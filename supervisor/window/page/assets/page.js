// What makes the page live. Everything that it shows stands in the HTML already; this keeps it so.
//
// The other modules know neither each other nor this one. Their files have a hash in the name, so
// they are found by the links that preload them.

const load = (name) => {
  const link = [...document.querySelectorAll('link[rel="modulepreload"]')].find((node) => node.href.includes(`/${name}.`));
  return import(link?.href ?? new URL(`./${name}.js`, import.meta.url).href);
};
const [streams, times_of, patches, actions, keys, plot, curves, logs] =
  await Promise.all(['stream', 'times', 'patch', 'actions', 'keys', 'plot', 'curve', 'log'].map(load));

const {body} = document;
const main = document.querySelector('main');
const program = main?.dataset.program ?? '';
const times = new times_of.Times(Number(body.dataset.nowMs));
const connection = document.getElementById('connection');

// ---- what is live in the page: begun where it appears, ended where it is gone

const living = new Map();  // element: Curve or Log
function enliven() {
  for (const [node, thing] of living) {
    if (node.isConnected) continue;
    thing.close();
    living.delete(node);
  }
  for (const figure of document.querySelectorAll('figure.curve[data-source]')) {
    if (!living.has(figure)) {
      living.set(figure, new curves.Curve(figure, plot, {now: () => times.now(), utc: () => times.utc(), say: (ms) => times.say(ms)}));
    }
  }
  const pre = document.getElementById('log-text');
  if (pre?.dataset.source && !living.has(pre)) living.set(pre, new logs.Log(pre));
}
const all_curves = () => [...living.values()].filter((thing) => thing instanceof curves.Curve);

const sections = new patches.Sections((section) => {
  times.show(section);
  enliven();
});
const every_id = () => [...document.querySelectorAll('main [data-source][id]')].filter((node) => node.nodeName === 'SECTION').map((node) => node.id);
let slow_at = -Infinity;
// What changes with every step is asked for each second; the rest when something has happened, and
// each ten seconds meanwhile, for time goes on in it.
function refresh(all) {
  if (!all && performance.now() - slow_at < 10_000) return sections.ask(['summary']);
  slow_at = performance.now();
  sections.ask(every_id(), all);
  for (const curve of all_curves()) curve.refresh();
}

// ---- the connection, and what is said of it

let state = '';
let heard_at = times.now();  // the daemon's time of what is seen
let lost_at = 0;
const as_of = document.querySelector('body > footer time');
const part = (text, hidden) => {
  const node = document.createElement('span');
  node.textContent = text;
  if (hidden) node.setAttribute('aria-hidden', 'true');
  return node;
};
// The words are read out once; the seconds that go on in them are for the eye.
function show_connection() {
  if (!connection) return;
  const lost = state === 'lost' || state === 'refused';
  connection.classList.toggle('live', state === 'live');
  connection.classList.toggle('lost', lost);
  body.classList.toggle('stale', lost);
  if (state === 'live') connection.replaceChildren('connected');
  else if (state === 'refused') {
    const link = document.createElement('a');
    link.href = '/login';
    link.textContent = 'sign in again';
    connection.replaceChildren('signed out: ', link, `; what you see is from ${times.say(heard_at)}`);
  } else if (state === 'lost') {
    connection.replaceChildren('connection lost', part('', true), `; what you see is from ${times.say(heard_at)}`);
    tick();
  }
}
function tick() {
  const seconds = connection?.querySelector('span[aria-hidden]');
  if (state === 'lost' && seconds) seconds.textContent = ` ${times_of.age_words(times.now() - lost_at)} ago`;
}

const stream = {
  changed(next) {
    const before = state;
    if (next === 'lost' && before !== 'lost') lost_at = times.now();
    if (next === 'hidden' && before === 'lost') return;
    state = next;
    show_connection();
    if (next === 'live' && before) refresh(true);
  },
  heard(name, data) {
    if (Number.isFinite(data.now_ms)) times.set(data.now_ms);
    heard_at = times.now();
    if (as_of) as_of.dateTime = new Date(heard_at).toISOString();
    if (name === 'event' || name === 'reset') refresh(true);
    else if (name === 'status') refresh(false);
    else if (name === 'hello') watch_version(data);
    else if (name === 'step' && data.program === program) for (const curve of all_curves()) curve.step(data);
  },
};

// A daemon of another version has another page: what was typed or unfolded is not worth two of them.
let version = '';
function watch_version(data) {
  if (version && data.version && version !== data.version) location.reload();
  version = data.version ?? version;
}

// ---- begin

const header = document.querySelector('body > header');
if (header) {
  const tools = document.createElement('div');
  tools.id = 'tools';
  header.append(tools);
  new keys.Keys(tools, {
    choice: times_of.choice,
    utc: () => times.utc(),
    turn_utc: () => {
      times.turn();
      times.show(document);
      show_connection();
      for (const curve of all_curves()) curve.paint();
    },
  });
}
times.show(document);
enliven();
actions.watch_actions(() => refresh(true));
setInterval(() => {
  if (document.hidden) return;
  times.show_ages(document);
  if (as_of) times.show(as_of.parentNode);
  tick();
}, 1000);
if (connection) new streams.Stream(program ? {program} : {}, stream);
