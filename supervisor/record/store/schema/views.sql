-- Views, the public face of the database. Columns are only ever added. The newest migration
-- recreates them all.
drop view if exists v_episodes;
drop view if exists v_messages;
drop view if exists v_board_samples;
drop view if exists v_samples;
drop view if exists v_devices;
drop view if exists v_compiled;
drop view if exists v_evaluations;
drop view if exists v_steps;
drop view if exists v_events;
drop view if exists v_goodput;
drop view if exists v_ledger;
drop view if exists v_status;
drop view if exists v_programs;
drop view if exists v_attempts;

-- A row per attempt. What the attempt's own row does not hold yet, because the attempt still runs,
-- is taken from the steps and checkpoints it has produced so far.
--
-- A program that is not told where to go on (told_to_resume 0) finds its own place, and what of an
-- attempt was lost shows in the first step of the next attempt that did one: what it did beyond the
-- step before that. Until then it is null. After a clean end nothing was lost, and nothing that
-- follows is a replay. Programs that tell of every tenth step begin ten steps before the first they
-- tell of: `distance` is that of the last two, where it divides all that was told.
create view v_attempts as
with eras as (  -- an era ends with a clean end; windows, since a run may have thousands of attempts
  select a.*,
         coalesce(sum(a.cause = 'done') over earlier, 0) as era,
         max(a.last_step) over earlier as before_ever,
         min(case when a.first_step > 0 then a.number end) over later as next_number
  from attempts a
  window earlier as (partition by a.program order by a.number
                     rows between unbounded preceding and 1 preceding),
         later as (partition by a.program order by a.number
                   rows between 1 following and unbounded following)
), runs as (
  select eras.*,
         max(last_step) over (partition by program, era order by number
                              rows between unbounded preceding and 1 preceding) as before_here
  from eras
), seen as (
  select a.*,
         coalesce(nullif(a.started_ms, 0), a.intended_ms) as begin_ms,
         coalesce(nullif(a.first_step, 0),
                  (select min(s.step) from steps s
                   where s.program = a.program and s.attempt = a.number), 0) as first,
         max(a.last_step,
             coalesce((select max(s.step) from steps s
                       where s.program = a.program and s.attempt = a.number), 0)) as last,
         case when a.ended_ms > 0 then a.kept_step
              else max(a.kept_step,
                       coalesce((select max(c.step) from checkpoints c
                                 where c.program = a.program and c.state = 'verified'), 0))
         end as kept,
         coalesce(case when a.told_to_resume then before_ever else before_here end, 0) as before,
         case when a.told_to_resume then null else
           (select n.first_step from attempts n
            where n.program = a.program and n.number = a.next_number) end as next_first
  from runs a
), paced as materialized (
  select seen.*,
         case when told_to_resume or first = 0 or first = last then 1
              else coalesce(told_every,
                            (select nullif(seen.last - max(s.step), 0) from steps s
                             where s.program = seen.program and s.attempt = seen.number
                               and s.step < seen.last), 1) end as distance
  from seen
), placed as materialized (
  select paced.*,
         case when told_to_resume then resume_step
              when first > 0
              then first - case when first % distance = 0 and last % distance = 0
                                then distance else 1 end
         end as began,
         next_first - case when next_first % distance = 0 and last % distance = 0
                           then distance else 1 end as next_began
  from paced
), raw as (
  select placed.*,
         case when ended_ms = 0 then 0
              -- A finished run has what it was to have, whether or not a file says so.
              when cause = 'done' then 0
              when told_to_resume then
                case when last > 0 then max(last - max(kept, resume_step), 0) else 0 end
              when last > 0 then max(last - next_began, 0) end as lost
  from placed
)
select program,
       number as attempt,
       board,
       case when begin_ms > 0 then strftime('%Y-%m-%dT%H:%M:%fZ', begin_ms / 1000.0, 'unixepoch')
       end as started_at,
       case when ended_ms > 0 then strftime('%Y-%m-%dT%H:%M:%fZ', ended_ms / 1000.0, 'unixepoch')
       end as ended_at,
       case when ended_ms > 0 then max(ended_ms - begin_ms, 0) / 1000.0 end as duration_s,
       began as resume_step,
       first as first_step,
       last as last_step,
       kept as kept_step,
       case when told_to_resume and cause = 'done' then max(last - resume_step, 0)
            when told_to_resume then max(min(last, kept) - resume_step, 0)
            when ended_ms > 0 and lost is not null then max(last - lost - began, 0)
            when kept > 0 then max(min(last, kept) - began, 0) end as steps_kept,
       lost as steps_lost,
       case when first = 0 then 0
            when told_to_resume then max(min(last, before) - (first - 1), 0)
            else max(min(last, before) - began, 0) end as steps_replayed,
       case when exit_signal is not null then
              case exit_signal
                when 1 then 'SIGHUP' when 2 then 'SIGINT' when 3 then 'SIGQUIT' when 4 then 'SIGILL'
                when 5 then 'SIGTRAP' when 6 then 'SIGABRT' when 7 then 'SIGBUS' when 8 then 'SIGFPE'
                when 9 then 'SIGKILL' when 10 then 'SIGUSR1' when 11 then 'SIGSEGV'
                when 12 then 'SIGUSR2' when 13 then 'SIGPIPE' when 14 then 'SIGALRM'
                when 15 then 'SIGTERM' when 24 then 'SIGXCPU' when 25 then 'SIGXFSZ'
                when 31 then 'SIGSYS' else 'signal ' || exit_signal end
            when exit_code is not null then 'exit ' || exit_code
            else '' end as exit,
       cause,
       verdict,
       coalesce((select e.text from evidence e
                 where e.program = raw.program and e.attempt = raw.number
                 order by e.weight desc, e.id limit 1), '') as evidence,
       resume_from,
       folder,
       remedy,
       plan,
       (select count(*) from compiled c
        where c.program = raw.program and c.attempt = raw.number and c.hit) as cache_hits,
       (select count(*) from compiled c
        where c.program = raw.program and c.attempt = raw.number and not c.hit) as cache_misses,
       told_to_resume,
       boards,
       mesh,
       source
from raw;

-- A row per program, also of those that are no longer in the configuration. Not every line of a program tells all: a loss, tokens and
-- a rate are those of the newest of 64 steps that has one.
create view v_programs as
select p.name,
       p.state,
       p.reason,
       (select count(*) from attempts a where a.program = p.name) as attempts,
       coalesce((select max(a.last_step,
                            coalesce((select max(s.step) from steps s
                                      where s.program = a.program and s.attempt = a.number), 0))
                   as last
                 from attempts a where a.program = p.name and last > 0
                 order by a.number desc limit 1), 0) as last_step,
       coalesce((select max(c.step) from checkpoints c
                 where c.program = p.name and c.state = 'verified'),
                (select a.kept_step from attempts a where a.program = p.name
                 order by a.number desc limit 1), 0) as kept_step,
       (select f.loss from (select s.loss from steps s where s.program = p.name
                            order by s.step, s.attempt limit 64) f
        where f.loss is not null limit 1) as first_loss,
       (select l.loss from (select s.loss from steps s where s.program = p.name
                            order by s.attempt desc, s.step desc limit 64) l
        where l.loss is not null limit 1) as last_loss,
       (select t.tokens from (select s.tokens from steps s where s.program = p.name
                              order by s.attempt desc, s.step desc limit 64) t
        where t.tokens is not null limit 1) as tokens,
       case when p.changed_ms > 0
            then strftime('%Y-%m-%dT%H:%M:%fZ', p.changed_ms / 1000.0, 'unixepoch')
       end as changed_at,
       (select r.tokens_per_second from (select s.tokens_per_second from steps s
                                         where s.program = p.name
                                         order by s.attempt desc, s.step desc limit 64) r
        where r.tokens_per_second is not null limit 1) as tokens_per_second,
       coalesce((select a.board from attempts a where a.program = p.name
                 order by a.number desc limit 1), '') as board,
       p.target_step,
       (select e.step from evaluations e where e.program = p.name
        order by e.attempt desc, e.step desc limit 1) as evaluated_step,
       (select e.loss from evaluations e where e.program = p.name
        order by e.attempt desc, e.step desc limit 1) as evaluation_loss,
       (select count(*) from compiled c where c.program = p.name and c.hit and c.attempt =
          (select max(a.number) from attempts a where a.program = p.name)) as cache_hits,
       (select count(*) from compiled c where c.program = p.name and not c.hit and c.attempt =
          (select max(a.number) from attempts a where a.program = p.name)) as cache_misses
from programs p;

-- Those of the configuration.
create view v_status as
select v.*
from v_programs v
join programs p on p.name = v.name
where not p.removed;

-- Seconds per program, phase and cause; share of all the program's booked time.
create view v_ledger as
select program,
       phase,
       cause,
       total(duration_ms) / 1000.0 as seconds,
       coalesce(total(duration_ms) / nullif(sum(total(duration_ms)) over (partition by program), 0),
                0.0) as share
from ledger
group by program, phase, cause;

-- Effective training time: seconds in which steps were done that had not been done before.
create view v_goodput as
with thieves as (
  select program, phase, cause, seconds,
         row_number() over (partition by program order by seconds desc, phase, cause) as place
  from v_ledger
  where phase <> 'stepping'
)
select l.program,
       sum(case when l.phase = 'stepping' then l.seconds else 0.0 end) as effective_seconds,
       sum(l.seconds) as total_seconds,
       coalesce(sum(case when l.phase = 'stepping' then l.seconds else 0.0 end)
                / nullif(sum(l.seconds), 0.0), 0.0) as effective_share,
       coalesce((select case when t.cause = '' then t.phase else t.phase || ' (' || t.cause || ')' end
                 from thieves t where t.program = l.program and t.place = 1), '') as biggest_thief,
       coalesce((select t.seconds from thieves t where t.program = l.program and t.place = 1),
                0.0) as thief_seconds,
       coalesce((select sum(a.steps_lost) from v_attempts a where a.program = l.program),
                0) as steps_lost
from v_ledger l
group by l.program;

create view v_events as
select id,
       strftime('%Y-%m-%dT%H:%M:%fZ', at_ms / 1000.0, 'unixepoch') as at,
       program,
       attempt,
       kind,
       text,
       "by"
from events;

-- The loss curve: a row per step, as the newest attempt that did it saw it. {figures}: those of
-- common/protocol/step_figures.hpp that are not named before it.
create view v_steps as
select s.program, s.step, s.attempt, s.loss, s.grad_norm, s.learning_rate, s.tokens,
       s.tokens_per_second,
       strftime('%Y-%m-%dT%H:%M:%fZ', s.at_ms / 1000.0, 'unixepoch') as at,
       (select count(*) from steps r where r.program = s.program and r.step = s.step) as times_done,
       {figures}
from steps s
where s.attempt = (select max(n.attempt) from steps n
                   where n.program = s.program and n.step = s.step);

-- The loss of held-out data: a row per evaluated step, as the newest attempt that did it saw it.
create view v_evaluations as
select e.program, e.step, e.attempt, e.loss,
       strftime('%Y-%m-%dT%H:%M:%fZ', e.at_ms / 1000.0, 'unixepoch') as at,
       (select count(*) from evaluations r
        where r.program = e.program and r.step = e.step) as times_done,
       e.perplexity
from evaluations e
where e.attempt = (select max(n.attempt) from evaluations n
                   where n.program = e.program and n.step = e.step);

-- What the model said to its prompts: of a step as the newest attempt that asked it there did.
create view v_samples as
select s.id, s.program, s.step, s.attempt, s.prompt, s.answer, s.tokens, s.ended_by, s.cut,
       strftime('%Y-%m-%dT%H:%M:%fZ', s.at_ms / 1000.0, 'unixepoch') as at
from samples s
where s.attempt = (select max(n.attempt) from samples n
                   where n.program = s.program and n.step = s.step);

-- What each device or rank of an attempt does: its newest figures, and shares of the attempt's time as
-- far as it was told.
create view v_devices as
select program, attempt, device, name, step, steps, loss, tokens_per_second,
       compute_ms, collective_ms, input_wait_ms, memory, memory_limit,
       total_compute_ms / total_ms as compute_share,
       total_collective_ms / total_ms as collective_share,
       total_input_wait_ms / total_ms as input_wait_share,
       strftime('%Y-%m-%dT%H:%M:%fZ', at_ms / 1000.0, 'unixepoch') as at
from (select *, nullif(total_compute_ms + total_collective_ms + total_input_wait_ms, 0)
                as total_ms
      from devices);

-- What the attempts compiled, or found in the cache, in the order they told of it.
create view v_compiled as
select id, program, attempt, name, key, hit, ms, dropped,
       strftime('%Y-%m-%dT%H:%M:%fZ', at_ms / 1000.0, 'unixepoch') as at
from compiled;

-- What boards measured while programs ran on them; older ones are thinned out.
create view v_board_samples as
select serial, at_ms, strftime('%Y-%m-%dT%H:%M:%fZ', at_ms / 1000.0, 'unixepoch') as at,
       program, attempt, temperature_c, limit_c, power_w, voltage_v, current_a, clock_mhz,
       heartbeat, aer_correctable, aer_nonfatal, aer_fatal
from board_samples;

-- What was decided to be told. Whether it was sent is known to who sends it.
create view v_messages as
select id,
       strftime('%Y-%m-%dT%H:%M:%fZ', at_ms / 1000.0, 'unixepoch') as at,
       strftime('%Y-%m-%dT%H:%M:%fZ', not_before_ms / 1000.0, 'unixepoch') as due_at,
       program, episode, tier, kind, title,
       coalesce(json_extract(message, '$.text'), '') as text,
       message, dropped
from outbox;

-- The troubles that people were told of, and those that they were spared.
create view v_episodes as
select id, program, family, cause, tier,
       strftime('%Y-%m-%dT%H:%M:%fZ', opened_ms / 1000.0, 'unixepoch') as opened_at,
       case when closed_ms > 0
            then strftime('%Y-%m-%dT%H:%M:%fZ', closed_ms / 1000.0, 'unixepoch') end as closed_at
from episodes;
