-- Schema version 6: what nobody told is null, programs that find by themselves where to go on, and
-- learning rates.

-- 0: where the attempt went on shows in its first step. Earlier attempts keep what was said of them.
alter table attempts add column told_to_resume integer not null default 1
  check (told_to_resume in (0, 1));

-- The same table with unknown tokens as null: until now they were 0. Null is now what nobody told, of
-- a loss too; SQLite has no NaN, so a loss that is not a number is infinite (before: null). Views hold on to it by name;
-- they are recreated after this.
drop view if exists v_board_samples;
drop view if exists v_compiled;
drop view if exists v_evaluations;
drop view if exists v_steps;
drop view if exists v_events;
drop view if exists v_goodput;
drop view if exists v_ledger;
drop view if exists v_status;
drop view if exists v_attempts;

create table steps_6 (
  program           text    not null,
  step              integer not null,
  attempt           integer not null,
  loss              real,
  grad_norm         real,
  tokens            integer,
  tokens_per_second real,
  at_ms             integer not null default 0,
  replayed          integer not null default 0 check (replayed in (0, 1)),
  learning_rate     real,
  primary key (program, step, attempt),
  foreign key (program, attempt) references attempts (program, number)
) strict, without rowid;
insert into steps_6
  select program, step, attempt, loss, grad_norm, nullif(tokens, 0), nullif(tokens_per_second, 0.0),
         at_ms, replayed, null
  from steps order by program, step, attempt;
drop table steps;
alter table steps_6 rename to steps;
create index steps_by_attempt on steps (program, attempt, step);
