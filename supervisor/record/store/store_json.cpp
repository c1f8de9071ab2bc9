// The documents that are one query each: status, history, events, probe, checkpoints.
#include <algorithm>
#include <cmath>

#include "supervisor/record/store/rows/rows_json.hpp"
#include "supervisor/record/store/store_impl.hpp"

namespace trainward::store {

void put_plight(json::object& row) {
  const auto state = parse_json(string_or(row, "core_state", ""), "state");
  row.erase("core_state");
  json::object none;
  const json::object& known = state && state->is_object() ? state->get_object() : none;
  const auto held = get_object(known, "held");
  row["snag"] = held ? string_or(**held, "snag", "") : "";
  row["snag_from_ms"] = held ? int_or(**held, "from_ms", 0) : 0;
  row["waits_until_ms"] = int_or(known, "waits_until_ms", 0);
  row["smaller_mesh"] = string_or(known, "smaller_mesh", "");
}

Result<json::object> Store::figures_json(const std::string& program) const {
  auto newest = newest_step(program);
  if (!newest) return propagate(newest);
  json::object figures;
  for (const StepFigure& figure : step_figures) {
    if (!*newest) break;
    const auto value = value_of(**newest, figure);
    if (!value || !std::isfinite(*value)) continue;
    const bool whole = std::holds_alternative<StepFigure::Whole>(figure.member);
    figures[figure.name] =
        whole ? json::value(static_cast<std::int64_t>(*value)) : json::value(*value);
  }
  return figures;
}

Result<json::array> Store::status_json(Time now, const std::string& also) const {
  const Snapshot snapshot(*impl_->connection);
  auto rows =
      rows_json(*impl_->connection,
                "select v.name, v.state, v.reason, "
                "case when a.ended_ms = 0 then a.pid else 0 end as pid, "
                "coalesce(a.number, 0) as attempt, coalesce(a.started_ms, 0) as started_ms, "
                "coalesce(a.ended_ms, 0) as ended_ms, coalesce(a.first_step, 0) as first_step, "
                "v.last_step, v.kept_step, v.attempts, "
                "v.first_loss, v.last_loss as loss, v.tokens, v.tokens_per_second, v.board, "
                "v.changed_at, p.changed_ms, p.target_step, v.evaluated_step, v.evaluation_loss, "
                "v.cache_hits, v.cache_misses, coalesce((select e.cause from attempts e where "
                "e.program = v.name and e.ended_ms > 0 order by e.number desc limit 1), '') "
                "as cause, p.core_state, p.removed "
                "from v_programs v join programs p on p.name = v.name "
                "left join attempts a on a.program = v.name and a.number = "
                "(select max(number) from attempts where program = v.name) "
                "where not p.removed or v.name = ? order by v.name",
                also);
  if (!rows) return rows;
  for (json::value& value : *rows) {
    json::object& row = value.as_object();
    const std::int64_t started = int_or(row, "started_ms", 0);
    const bool running = started > 0 && int_or(row, "ended_ms", 0) == 0;
    row["pid"] = int_or(row, "pid", 0);  // null without an attempt
    auto share = effective_share(*impl_->connection, string_or(row, "name", ""),
                                 string_or(row, "core_state", ""), now);
    if (!share) return propagate(share);
    put_plight(row);
    auto told = figures_json(string_or(row, "name", ""));
    if (!told) return propagate(told);
    row["figures"] = std::move(*told);
    auto devices = devices_json(string_or(row, "name", ""));
    if (!devices) return propagate(devices);
    row["devices"] = std::move(*devices);
    row["effective_share"] = or_null(*share);
    if (int_or(row, "removed", 0) != 0) {
      row["removed"] = true;
      row["reason"] = "no longer in the configuration";
    } else {
      row.erase("removed");
    }
    row["uptime_ms"] = running ? std::max<std::int64_t>(now.wall - WallTime{started}, 0) : 0;
  }
  return rows;
}

Result<json::array> Store::history_json(const std::string& program) const {
  if (program.empty()) {
    return rows_json(*impl_->connection, "select * from v_attempts order by program, attempt");
  }
  return rows_json(*impl_->connection,
                   "select * from v_attempts where program = ? order by attempt", program);
}

Result<json::array> Store::events_json(const std::string& program, std::int64_t after_id,
                                       int limit) const {
  if (after_id >= 0) {
    return rows_json(*impl_->connection,
                     "select * from v_events where id > ? and (? = '' or program = ?) "
                     "order by id limit ?",
                     after_id, program, program, limit);
  }
  return rows_json(*impl_->connection,
                   "select * from (select * from v_events where ? = '' or program = ? "
                   "order by id desc limit ?) order by id",
                   program, program, limit);
}

Result<json::object> Store::newest_step_json(const std::string& program) const {
  return row_json(*impl_->connection,
                  "select step, attempt, loss, tokens_per_second from steps where program = ? "
                  "order by attempt desc, step desc limit 1",
                  program);
}

Result<json::object> Store::probe_json() const {
  auto row =
      row_json(*impl_->connection,
               "select id, at_ms, strftime('%Y-%m-%dT%H:%M:%fZ', at_ms / 1000.0, 'unixepoch') "
               "as at, source, duration_ms, error, report from probes order by id desc limit 1");
  if (!row || row->empty()) return row;
  const std::string text = string_or(*row, "report", "");
  (*row)["report"] = nullptr;
  if (text.empty()) return row;
  auto report = parse_json(text, "the newest probe's report");
  if (!report) return propagate(report);
  (*row)["report"] = std::move(*report);
  return row;
}

Result<json::array> Store::checkpoints_json(const std::string& program) const {
  return rows_json(*impl_->connection,
                   "select program, path, step, attempt, bytes, state, reason, at_ms, "
                   "strftime('%Y-%m-%dT%H:%M:%fZ', at_ms / 1000.0, 'unixepoch') as at "
                   "from checkpoints where ? = '' or program = ? order by program, step, path",
                   program, program);
}

Result<json::array> Store::evaluations_json(const std::string& program) const {
  return rows_json(*impl_->connection,
                   "select * from v_evaluations where program = ? order by step", program);
}

Result<json::array> Store::devices_json(const std::string& program) const {
  return rows_json(*impl_->connection,
                   "select * from v_devices where program = ? and attempt = "
                   "(select max(attempt) from devices where program = ?) order by device",
                   program, program);
}

Result<json::array> Store::samples_json(const std::string& program) const {
  return rows_json(*impl_->connection,
                   "select * from v_samples where program = ? order by step, id", program);
}

Result<json::array> Store::losses_json(const std::string& program, std::int64_t up_to_step,
                                       int most) const {
  return rows_json(*impl_->connection,
                   // Where rows were thinned out, the mean of each bucket.
                   "select step, loss from (select step, loss, row_number() over (order by step) "
                   "as n, count(*) over () as total from (select step, loss from v_steps "
                   "where program = ?1 and step <= ?2 and loss is not null union all "
                   "select b.last_step, b.loss_sum / b.loss_count from step_buckets b "
                   "where b.program = ?1 and b.level = -1 and b.last_step <= ?2 and "
                   "b.loss_count > 0 and not exists (select 1 from steps s where "
                   "s.program = ?1 and s.step between b.bucket * 64 and b.last_step))) "
                   "where n = 1 or n = total or n % max(total / ?3, 1) = 0 order by step",
                   program, up_to_step, std::int64_t{most});
}

Result<json::array> Store::compiled_json(const std::string& program) const {
  return rows_json(*impl_->connection, "select * from v_compiled where program = ? order by id",
                   program);
}

}  // namespace trainward::store
