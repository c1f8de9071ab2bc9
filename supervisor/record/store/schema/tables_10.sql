-- Schema version 10: how well a step used what it ran on, and how many checkpoints there are.

-- Where a worker tells it: mfu and communication are shares (0 to 1), memory is in bytes, of the
-- fullest of the devices.
alter table steps add column mfu real;
alter table steps add column communication real;
alter table steps add column device_memory integer;
alter table steps add column device_memory_limit integer;

-- By what has become of them. Kept with every row of checkpoints that is put or marked: counting them
-- takes longer with every month of a run, and metrics ask every few seconds.
alter table programs add column verified integer not null default 0;
alter table programs add column corrupt integer not null default 0;
alter table programs add column pruned integer not null default 0;
update programs set
  verified = (select count(*) from checkpoints c where c.program = name and c.state = 'verified'),
  corrupt = (select count(*) from checkpoints c where c.program = name and c.state = 'corrupt'),
  pruned = (select count(*) from checkpoints c where c.program = name and c.state = 'pruned');
