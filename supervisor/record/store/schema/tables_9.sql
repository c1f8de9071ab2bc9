-- Schema version 9: what people are told. A message is decided on in the transaction of the event that
-- caused it; who has received it is not known here (docs/messenger.md).

-- Ids grow and are never reused, not even when a power cut took the newest rows or the file was
-- recreated: each is at least the time of its making. `episode` 0: of none; an unsent row gives way
-- to a newer one of the same episode.
create table outbox (
  id            integer primary key autoincrement,
  at_ms         integer not null,
  not_before_ms integer not null,
  program       text    not null default '',
  episode       integer not null default 0,
  tier          text    not null check (tier in ('critical', 'warning', 'info')),
  kind          text    not null,
  title         text    not null,
  message       text    not null,
  dropped       integer not null default 0 check (dropped in (0, 1))
) strict;
create index outbox_by_time on outbox (at_ms);

-- A trouble from its begin until it is over: what people were told of, and what of it is remembered so
-- that nobody is told twice. closed_ms 0: it lasts, once for each program and family.
create table episodes (
  id        integer primary key,
  program   text    not null default '',
  family    text    not null,
  cause     text    not null default '',
  tier      text    not null default '',
  opened_ms integer not null,
  closed_ms integer not null default 0,
  memory    text    not null default '{}'
) strict;
create unique index open_episodes on episodes (program, family) where closed_ms = 0;
create index episodes_by_time on episodes (closed_ms);

-- What is remembered of a program beside its episodes; of the daemon itself: ''. Private JSON.
create table tellings (
  program text primary key,
  memory  text not null
) strict, without rowid;
