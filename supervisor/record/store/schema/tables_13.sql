-- Schema version 13: what each device or rank of a run does, as its worker tells; a row for each in an
-- attempt, of the newest 1000 attempts of a program.

create table devices (
  program             text    not null,
  attempt             integer not null,
  device              integer not null,
  name                text    not null,
  step                integer not null,
  steps               integer not null,
  loss                real,
  tokens_per_second   real,
  compute_ms          real,
  collective_ms       real,
  input_wait_ms       real,
  memory              integer,
  memory_limit        integer,
  total_compute_ms    real    not null default 0,
  total_collective_ms real    not null default 0,
  total_input_wait_ms real    not null default 0,
  at_ms               integer not null,
  primary key (program, attempt, device),
  foreign key (program, attempt) references attempts (program, number)
) strict, without rowid;
