-- Schema version 7: what models in training say to prompts, and the perplexity of evaluations.

-- Null: the worker did not tell it, or its loss has none.
alter table evaluations add column perplexity real;

-- A row for each sample that a worker told; the newest of a program are kept (docs/database.md).
create table samples (
  id       integer primary key,
  program  text    not null,
  step     integer not null,
  attempt  integer not null,
  prompt   text    not null,
  answer   text    not null,
  tokens   integer,
  ended_by text    not null default '',
  cut      integer not null default 0 check (cut in (0, 1)),
  at_ms    integer not null default 0,
  foreign key (program, attempt) references attempts (program, number)
) strict;
create index samples_by_step on samples (program, step, attempt);
