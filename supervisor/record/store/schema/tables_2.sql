-- Schema version 2: what was done about an attempt's end, and what boards have done before.

alter table attempts add column remedy text not null default '';
-- The plan the worker was told, as JSON; empty before version 2.
alter table attempts add column plan text not null default '';

-- Faults, quarantine and probation by serial number, shared by all programs (JSON).
create table board_records (
  serial text    primary key,
  record text    not null,
  at_ms  integer not null
) strict, without rowid;

-- One row: the machine start (its boot id) in which the newest daemon ran. After another start no
-- worker can be alive, and times of the monotonic clock no longer mean anything.
create table daemon (
  id         integer primary key check (id = 1),
  boot_id    text    not null,
  started_ms integer not null
) strict;
