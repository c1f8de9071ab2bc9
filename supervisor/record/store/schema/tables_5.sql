-- Schema version 5: what boards measured of themselves while programs ran on them.

-- What a board does not publish is null. Thinned by age (docs/database.md).
create table board_samples (
  serial          text    not null,
  at_ms           integer not null,
  program         text    not null default '',
  attempt         integer not null default 0,
  temperature_c   real,
  limit_c         real,
  power_w         real,
  voltage_v       real,
  current_a       real,
  clock_mhz       integer,
  heartbeat       integer,
  aer_correctable integer,
  aer_nonfatal    integer,
  aer_fatal       integer,
  primary key (serial, at_ms)
) strict, without rowid;
create index board_samples_by_program on board_samples (program, serial, temperature_c);
