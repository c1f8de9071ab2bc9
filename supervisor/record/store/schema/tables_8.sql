-- Schema version 8: the steps in buckets, so that the curve of a long run is read in milliseconds, and
-- who asked for what an event tells of.

-- Level 0 holds 64 steps a bucket, each level above eight of the one below; level -1 is what is left
-- of steps whose rows were thinned out. A bucket holds what the newest attempt made of each step, but
-- for rows, least_loss and first_ms, which are of every attempt. min and max are null where there was
-- no number; nan counts those that were reported but are not a number.
create table step_buckets (
  program                 text    not null references programs (name),
  level                   integer not null,
  bucket                  integer not null,
  first_step              integer not null,
  last_step               integer not null,
  steps                   integer not null,
  rows                    integer not null,
  first_attempt           integer not null,
  last_attempt            integer not null,
  first_ms                integer not null,
  last_ms                 integer not null,
  tokens                  integer,
  least_loss              real,
  loss_min                real,
  loss_max                real,
  loss_sum                real    not null,
  loss_count              integer not null,
  loss_nan                integer not null,
  grad_norm_min           real,
  grad_norm_max           real,
  grad_norm_sum           real    not null,
  grad_norm_count         integer not null,
  grad_norm_nan           integer not null,
  learning_rate_min       real,
  learning_rate_max       real,
  learning_rate_sum       real    not null,
  learning_rate_count     integer not null,
  learning_rate_nan       integer not null,
  tokens_per_second_min   real,
  tokens_per_second_max   real,
  tokens_per_second_sum   real    not null,
  tokens_per_second_count integer not null,
  tokens_per_second_nan   integer not null,
  primary key (program, level, bucket)
) strict, without rowid;

-- The step that was put last. The buckets it lies in are not kept up with every step: they are
-- written when a step outside of them comes, and made from what is below them until then.
create table step_bucket_open (
  program text    primary key references programs (name),
  step    integer not null
) strict, without rowid;

-- Distance of the last two steps told, where thinning has taken their rows.
alter table attempts add column told_every integer;

-- Who asked for it ("uid 1000", "token anna"); empty: nobody.
alter table events add column "by" text not null default '';

create index ledger_by_time on ledger (program, begin_ms);
