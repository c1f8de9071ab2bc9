-- Schema version 3: the loss of data that is not trained on.

-- As with steps: one that is evaluated again has a row for each attempt that did it, and a loss that
-- is not a number is null.
create table evaluations (
  program text    not null,
  step    integer not null,
  attempt integer not null,
  loss    real,
  at_ms   integer not null default 0,
  primary key (program, step, attempt),
  foreign key (program, attempt) references attempts (program, number)
) strict, without rowid;
create index evaluations_by_attempt on evaluations (program, attempt, step);
