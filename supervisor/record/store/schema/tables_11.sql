-- Schema version 11: who the processes of an attempt are, so that they are found when its journal cannot
-- be read. A number with the start time and the boot id is no other process.

create table processes (
  program            text    not null,
  attempt            integer not null,
  worker_pid         integer not null default 0,
  worker_start_ticks integer not null default 0,
  shim_pid           integer not null default 0,
  shim_start_ticks   integer not null default 0,
  boot_id            text    not null default '',
  cgroup             text    not null default '',
  primary key (program, attempt),
  foreign key (program, attempt) references attempts (program, number)
) strict, without rowid;
