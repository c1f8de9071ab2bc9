// The documents that tell a story: why an attempt ended, and what a whole run came to.
#include <optional>

#include "supervisor/record/store/chosen_attempts.hpp"
#include "supervisor/record/store/curve/step_pyramid.hpp"
#include "supervisor/record/store/rows/rows_json.hpp"
#include "supervisor/record/store/store_impl.hpp"

namespace trainward::store {
namespace {

tl::unexpected<Error> no_such_program(const std::string& program) {
  return fail(ErrorKind::usage, fmt::format("no such program: {}", program), "",
              "trainwardctl status lists them");
}

// Copies the rows under `key` into `into`, or says why not.
Status put_rows(json::object& into, std::string_view key, Result<json::array> rows) {
  if (!rows) return propagate(rows);
  into[key] = std::move(*rows);
  return {};
}

Status merge(json::object& into, Result<json::object> row) {
  if (!row) return propagate(row);
  for (auto& member : *row) into[member.key()] = std::move(member.value());
  return {};
}

// The newest evaluations and the best one, and what the model said at the newest two of its steps.
Status put_learning(Connection& db, json::object& report, const std::string& program) {
  const std::string best =
      "select step, attempt, loss, perplexity from v_evaluations "
      "where program = ? and loss is not null order by loss, step limit 1";
  auto row = row_json(
      db,
      fmt::format("select b.*, (select path from checkpoints c where c.program = ? and "
                  "c.step = b.step and c.state = 'verified' limit 1) as checkpoint from ({}) b",
                  best),
      program, program);
  if (!row) return propagate(row);
  report["best_evaluation"] = row->empty() ? json::value() : json::value(std::move(*row));
  auto evaluations = rows_json(
      db,
      fmt::format("select * from (select step, attempt, loss, perplexity from v_evaluations "
                  "where program = ? order by step desc limit 9) "
                  "union select * from ({}) order by step",
                  best),
      program, program);
  if (auto put = put_rows(report, "evaluations", std::move(evaluations)); !put) return put;
  return put_rows(
      report, "samples",
      rows_json(db,
                "select step, attempt, prompt, answer, tokens, ended_by, cut, at "
                "from v_samples where program = ? and step in (select step from samples "
                "where program = ? group by step order by max(attempt) desc, step desc "
                "limit 2) order by step, id",
                program, program));
}

}  // namespace

Result<json::object> Store::why_json(const std::string& program,
                                     std::optional<std::int64_t> attempt) const {
  Connection& db = *impl_->connection;
  const Snapshot snapshot(db);
  auto document =
      row_json(db,
               "select name as program, state, reason, changed_ms, core_state from programs "
               "where name = ?",
               program);
  if (!document) return document;
  if (document->empty()) return no_such_program(program);
  put_plight(*document);

  // Without a number: the newest attempt that has ended, for that is the question asked after a
  // crash; failing that the one that runs.
  auto wanted =
      attempt ? Result<std::optional<std::int64_t>>(attempt) : attempt_to_explain(db, program);
  if (!wanted) return propagate(wanted);
  const std::int64_t asked = wanted->value_or(0);
  auto rows = chosen_attempts(db, program, asked, asked, 1);
  if (!rows) return propagate(rows);
  if (rows->empty() && attempt) {
    auto newest = attempts(program);
    return fail(ErrorKind::usage, fmt::format("{} has no attempt {}", program, *attempt), "",
                newest && !newest->empty()
                    ? fmt::format("its attempts are 1 to {}", newest->back().number)
                    : "it was never started");
  }
  if (rows->empty()) {
    (*document)["attempt"] = nullptr;
    (*document)["evidence"] = json::array();
    (*document)["phases"] = json::array();
    return document;
  }
  json::value& row = rows->front();
  const std::int64_t number = int_or(row.as_object(), "attempt", 0);
  (*document)["attempt"] = std::move(row);
  auto evidence = rows_json(db,
                            "select source, weight, cause, text, location from evidence "
                            "where program = ? and attempt = ? order by weight desc, id",
                            program, number);
  if (auto put = put_rows(*document, "evidence", std::move(evidence)); !put) return propagate(put);
  auto phases = rows_json(db,
                          "select phase, cause, total(duration_ms) / 1000.0 as seconds from ledger "
                          "where program = ? and attempt = ? group by phase, cause "
                          "order by min(begin_ms), min(id)",
                          program, number);
  if (auto put = put_rows(*document, "phases", std::move(phases)); !put) return propagate(put);
  return document;
}

Result<json::object> Store::report_json(const std::string& program) const {
  Connection& db = *impl_->connection;
  const Snapshot snapshot(db);
  auto document =
      row_json(db, "select name as program, state, reason from programs where name = ?", program);
  if (!document) return document;
  if (document->empty()) return no_such_program(program);
  json::object& report = *document;

  auto totals = row_json(
      db,
      "select count(*) as attempts, min(started_at) as started_at, max(ended_at) as ended_at, "
      "case when count(*) = 0 then 0 else sum(steps_lost) end as steps_lost, "
      "coalesce(sum(steps_lost is null), 0) as attempts_with_unknown_loss, "
      "coalesce(sum(steps_replayed), 0) as "
      "steps_replayed, coalesce(sum(cache_hits), 0) as cache_hits, "
      "coalesce(sum(cache_misses), 0) as cache_misses from v_attempts where program = ?",
      program);
  if (auto merged = merge(report, std::move(totals)); !merged) return propagate(merged);

  auto status = row_json(
      db,
      "select last_step, kept_step, "
      // One whose checkpoints nobody sees: what its own attempts went on from.
      // What was done again from the start is the same steps.
      "case when (select cause from attempts where program = v_programs.name "
      "order by number desc limit 1) = 'done' then last_step "
      "when kept_step > 0 or not exists (select 1 from attempts where program = v_programs.name "
      "and not told_to_resume) then kept_step else (select min(sum(a.steps_kept), "
      "max(a.last_step)) from v_attempts a where a.program = v_programs.name) end as steps_kept, "
      "first_loss, last_loss, tokens, "
      "evaluated_step, evaluation_loss, "
      "(select perplexity from evaluations where program = ? order by attempt desc, step desc "
      "limit 1) as evaluation_perplexity, "
      "(select min(loss) from v_evaluations where program = ?) as best_evaluation_loss, "
      "(select text from events where program = ? and kind = 'early_end' and attempt = "
      "(select max(number) from attempts where program = ?) order by id desc limit 1) as "
      "early_end, "
      "(select text from events where program = ? and kind = 'data' and attempt = "
      "(select max(number) from attempts where program = ?) order by id desc limit 1) as "
      "data_left_out from v_programs where name = ?",
      program, program, program, program, program, program, program);
  if (auto merged = merge(report, std::move(status)); !merged) return propagate(merged);
  auto steps = StepPyramid(db, program).whole();
  if (!steps) return propagate(steps);
  report["best_loss"] = or_null(steps->least_loss);

  // Wall time runs from the first sign of the run to the last.
  auto wall = row_json(
      db,
      "select coalesce(max(e) - min(b), 0) / 1000.0 as wall_seconds from ("
      "select intended_ms as b, max(ended_ms, started_ms, intended_ms) as e from attempts "
      "where program = ? and intended_ms > 0 "
      "union all select begin_ms, begin_ms + duration_ms from ledger where program = ? "
      "union all select ?, ?)",
      program, program, steps->first_ms > 0 ? std::optional(steps->first_ms) : std::nullopt,
      steps->last_ms > 0 ? std::optional(steps->last_ms) : std::nullopt);
  if (auto merged = merge(report, std::move(wall)); !merged) return propagate(merged);

  auto goodput = row_json(
      db,
      "select effective_seconds, total_seconds, effective_share, biggest_thief, thief_seconds "
      "from v_goodput where program = ?",
      program);
  if (goodput && goodput->empty()) {
    *goodput = {{"effective_seconds", 0.0},
                {"total_seconds", 0.0},
                {"effective_share", 0.0},
                {"biggest_thief", ""},
                {"thief_seconds", 0.0}};
  }
  if (auto merged = merge(report, std::move(goodput)); !merged) return propagate(merged);

  const double effective = number_or(report, "effective_seconds", 0);
  const auto tokens = get_number(report, "tokens");
  report["tokens_per_second"] =
      effective > 0 && tokens ? json::value(*tokens / effective) : json::value();

  auto causes = rows_json(db,
                          "select cause, count(*) as attempts, sum(steps_lost) as steps_lost, "
                          "group_concat(attempt, ',') as numbers from v_attempts "
                          "where program = ? and cause <> '' group by cause "
                          "order by count(*) desc, cause",
                          program);
  if (auto put = put_rows(report, "causes", std::move(causes)); !put) return propagate(put);
  auto meshes = rows_json(db,
                          "select mesh, count(*) as attempts, group_concat(number, ',') as numbers "
                          "from attempts where program = ? and mesh <> '' group by mesh "
                          "order by min(number)",
                          program);
  if (auto put = put_rows(report, "meshes", std::move(meshes)); !put) return propagate(put);
  auto phases =
      rows_json(db,
                "select phase, sum(seconds) as seconds, sum(share) as share from v_ledger "
                "where program = ? group by phase order by sum(seconds) desc, phase",
                program);
  if (auto put = put_rows(report, "phases", std::move(phases)); !put) return propagate(put);
  auto ledger = rows_json(db,
                          "select phase, cause, seconds, share from v_ledger where program = ? "
                          "order by seconds desc, phase, cause",
                          program);
  if (auto put = put_rows(report, "ledger", std::move(ledger)); !put) return propagate(put);
  auto boards = rows_json(
      db,
      "select serial, type, bus_id, verdict, reason, (select count(*) from "
      "attempts a where a.program = ? and instr(',' || a.boards || ',', ',' || boards.serial || "
      "',') > 0) as attempts, "
      "(select max(s.temperature_c) from board_samples s where s.program = ? "
      "and s.serial = boards.serial) as hottest_c "
      "from boards order by serial",
      program, program);
  if (auto put = put_rows(report, "boards", std::move(boards)); !put) return propagate(put);
  if (auto put = put_rows(report, "devices", devices_json(program)); !put) return propagate(put);
  if (auto put = put_learning(db, report, program); !put) return propagate(put);
  return document;
}

}  // namespace trainward::store
