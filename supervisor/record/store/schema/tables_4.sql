-- Schema version 4: which programs an attempt had to compile, and which the cache gave it.

-- A row for each time a worker told of one; several of its processes may tell of the same.
create table compiled (
  id      integer primary key,
  program text    not null,
  attempt integer not null,
  name    text    not null,
  key     text    not null,
  hit     integer not null,
  ms      integer not null default 0,
  dropped text    not null default '',
  at_ms   integer not null default 0,
  foreign key (program, attempt) references attempts (program, number)
) strict;
create index compiled_by_attempt on compiled (program, attempt, hit);
