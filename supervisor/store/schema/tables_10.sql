-- Schema version 10: how many checkpoints of a program are on record, by what has become of them.

-- Kept with every row of checkpoints that is put or marked: counting them takes longer with every
-- month of a run, and metrics ask every few seconds.
alter table programs add column verified integer not null default 0;
alter table programs add column corrupt integer not null default 0;
alter table programs add column pruned integer not null default 0;
update programs set
  verified = (select count(*) from checkpoints c where c.program = name and c.state = 'verified'),
  corrupt = (select count(*) from checkpoints c where c.program = name and c.state = 'corrupt'),
  pruned = (select count(*) from checkpoints c where c.program = name and c.state = 'pruned');
