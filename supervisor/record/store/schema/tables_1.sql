-- Schema version 1: tables. docs/database.md explains every column.
-- Times ending in _ms are wall-clock milliseconds since 1970-01-01T00:00:00Z; 0 means "not yet".

create table programs (
  name          text    primary key check (length(name) between 1 and 64),
  state         text    not null,
  reason        text    not null default '',
  config_digest text    not null default '',
  core_state    text    not null default '',
  changed_ms    integer not null default 0,
  target_step   integer not null default 0,
  removed       integer not null default 0 check (removed in (0, 1))
) strict, without rowid;

create table attempts (
  program        text    not null references programs (name),
  number         integer not null check (number > 0),
  nonce          text    not null default '',
  board          text    not null default '',
  folder         text    not null default '',
  intended_ms    integer not null default 0,
  started_ms     integer not null default 0,
  ended_ms       integer not null default 0,
  pid            integer not null default 0,
  resume_from    text    not null default '',
  resume_step    integer not null default 0,
  first_step     integer not null default 0,
  last_step      integer not null default 0,
  kept_step      integer not null default 0,
  exit_code      integer,
  exit_signal    integer,
  cause          text    not null default '',
  verdict        text    not null default '',
  -- How much of the attempt's journal is already part of this database: committed together with
  -- what the journal said, so that each record counts once.
  journal_offset integer not null default 0,
  primary key (program, number)
) strict, without rowid;

create table evidence (
  id       integer primary key,
  program  text    not null,
  attempt  integer not null,
  source   text    not null,
  weight   integer not null,
  cause    text    not null default '',
  text     text    not null,
  location text    not null default '',
  foreign key (program, attempt) references attempts (program, number)
) strict;
create index evidence_by_attempt on evidence (program, attempt, weight desc, id);

-- A step that was lost and done again has a row for each attempt that did it. SQLite has no NaN:
-- a loss or norm that is not a number is null.
create table steps (
  program           text    not null,
  step              integer not null,
  attempt           integer not null,
  loss              real,
  grad_norm         real,
  tokens            integer not null default 0,
  tokens_per_second real,
  at_ms             integer not null default 0,
  replayed          integer not null default 0 check (replayed in (0, 1)),
  primary key (program, step, attempt),
  foreign key (program, attempt) references attempts (program, number)
) strict, without rowid;
create index steps_by_attempt on steps (program, attempt, step);

create table events (
  id      integer primary key autoincrement,
  at_ms   integer not null,
  program text    not null default '',
  attempt integer not null default 0,
  kind    text    not null,
  text    text    not null
) strict;
create index events_by_program on events (program, id);

-- Where the time went. attempt 0: between attempts.
create table ledger (
  id          integer primary key,
  program     text    not null references programs (name),
  attempt     integer not null default 0,
  phase       text    not null,
  cause       text    not null default '',
  begin_ms    integer not null,
  duration_ms integer not null check (duration_ms >= 0)
) strict;
create index ledger_by_program on ledger (program, attempt, phase, cause, duration_ms);

create table probes (
  id          integer primary key,
  at_ms       integer not null,
  source      text    not null default '',
  report      text    not null default '',
  duration_ms integer not null default 0,
  error       text    not null default ''
) strict;

create table boards (
  serial  text    primary key,
  type    text    not null default '',
  bus_id  text    not null default '',
  verdict text    not null,
  reason  text    not null default '',
  at_ms   integer not null
) strict, without rowid;

create table checkpoints (
  program text    not null references programs (name),
  path    text    not null,
  step    integer not null,
  attempt integer not null default 0,
  bytes   integer not null default 0,
  state   text    not null check (state in ('verified', 'corrupt', 'pruned')),
  reason  text    not null default '',
  at_ms   integer not null,
  primary key (program, path)
) strict, without rowid;
create index checkpoints_by_step on checkpoints (program, state, step);
