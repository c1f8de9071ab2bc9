#include "supervisor/courier/tracking/mlflow/batch.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "supervisor/courier/tracking/mlflow/mlflow_words.hpp"
#include "supervisor/courier/tracking/run_verdict.hpp"
#include "supervisor/courier/tracking/step_metrics.hpp"
#include "supervisor/courier/tracking/timeline.hpp"

namespace trainward::tracking {
namespace {

// The server's limits for one request, and room for what is around the metrics: 1 MB in all.
constexpr std::size_t most_metrics = 1000;
constexpr std::int64_t rows_in_a_batch = 110;  // of at most eight metrics and 110 bytes each
constexpr std::int64_t verdicts_shown = 20;
constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();

void add_metric(json::array& metrics, std::string_view key, const std::optional<double>& value,
                std::int64_t at_ms, std::int64_t step) {
  if (!value) return;
  // The database stores NaN as infinity.
  json::value shown = std::isfinite(*value) ? json::value(*value) : json::value("NaN");
  metrics.push_back(json::object{
      {"key", key}, {"value", std::move(shown)}, {"timestamp", at_ms}, {"step", step}});
}

// What became of a program, in MLflow's words. A crash followed by another attempt is no end.
std::string_view status_of(const std::string& state) {
  if (state == "EXITED") return "FINISHED";
  if (state == "FATAL") return "FAILED";
  if (state == "STOPPED") return "KILLED";
  return "RUNNING";
}

// Up to which step nothing will be done again, as far as anybody knows.
Result<std::int64_t> settled_step(const store::Store& store, const store::AttemptRow& newest,
                                  bool over) {
  if (over) return all;
  const std::string& program = newest.program;
  auto any = store.has_checkpoints(program);
  if (!any) return propagate(any);
  // Nobody knows what such a program saves: what it says first is taken.
  if (!*any && !newest.told_to_resume) return all;
  auto kept = store.newest_checkpoint(program);
  if (!kept) return propagate(kept);
  auto first = store.first_step_of(program, newest.number);
  if (!first) return propagate(first);
  const bool moves = first->has_value();
  const std::int64_t began = newest.told_to_resume ? newest.resume_step : (moves ? **first - 1 : 0);
  // It does again what lies behind the place where it began, though that was kept once.
  bool is_past = false;
  auto read = store.each_step(program, newest.number, *kept - 1, 1,
                              [&](const store::StepRow&) { is_past = true; });
  if (!read) return propagate(read);
  if (is_past) return std::max(*kept, began);
  // Until its first step it may look at once more what it goes on from.
  return moves ? began : began - 1;
}

Result<json::array> tags_of(const store::Store& store, const store::ProgramRow& program,
                            const store::AttemptRow& newest) {
  json::array tags;
  tags.push_back(tag("trainward.program", program.name));
  tags.push_back(tag("trainward.state", program.state));
  tags.push_back(tag("trainward.attempts", std::to_string(newest.number)));
  std::string note;
  bool told = false;
  for (std::int64_t number = newest.number; number > 0 && number > newest.number - verdicts_shown;
       --number) {
    auto attempt = store.attempt(program.name, number);
    if (!attempt) return propagate(attempt);
    if (!*attempt || (*attempt)->ended_ms == 0) continue;
    if (!std::exchange(told, true)) {
      tags.push_back(tag("trainward.cause", (*attempt)->cause));
      tags.push_back(tag("trainward.verdict", (*attempt)->verdict));
    }
    note += verdict_markdown(**attempt) + "\n\n";
  }
  if (told) tags.push_back(tag("mlflow.note.content", note));
  return tags;
}

}  // namespace

bool is_over(std::string_view status) { return status != "RUNNING"; }

Result<Batch> gather(const store::Store& store, const orders::TrackingOrder& order,
                     const Told& told) {
  const auto snapshot = store.snapshot();
  Batch batch;
  auto program = store.program(order.program);
  if (!program) return propagate(program);
  auto first = store.attempt_from(order.program, 0);
  if (!first) return propagate(first);
  auto attempts = store.newest_attempt(order.program);
  if (!attempts) return propagate(attempts);
  if (!*program || !*first || !*attempts) {
    return fail(ErrorKind::transient, "the program is gone from the run database", order.program);
  }
  const store::AttemptRow& newest = **attempts;
  batch.status = status_of((*program)->state);
  batch.began_ms = began_ms(**first);
  batch.ended_ms = newest.ended_ms;
  auto settled = settled_step(store, newest, is_over(batch.status));
  if (!settled) return propagate(settled);
  const bool again = told.pending_last != nothing_pending;
  batch.newest_attempt = again ? told.pending_attempt : newest.number;
  const std::int64_t last = again ? told.pending_last : *settled;

  batch.last = told.step;
  batch.shown_step = told.shown_step;
  batch.evaluation = told.evaluation;
  const std::int64_t every = order.tracking.every;
  std::int64_t rows = 0;
  auto read = store.each_curve_step(
      order.program, {told.step, last, batch.newest_attempt}, rows_in_a_batch,
      [&](const store::StepRow& row) {
        ++rows;
        batch.last = row.step;
        const bool shown = batch.shown_step < 0 || row.step / every != batch.shown_step / every;
        if (!shown) return;
        batch.shown_step = row.step;
        each_metric(row, [&](std::string_view tag, const std::optional<double>& value) {
          add_metric(batch.metrics, tag, value, row.at_ms, row.step);
        });
      });
  if (!read) return propagate(read);
  batch.more = rows == rows_in_a_batch;
  // Those of steps that come later come with them.
  const std::int64_t reach = batch.more ? batch.last : last;
  read = store.each_curve_evaluation(
      order.program, {told.evaluation, reach, batch.newest_attempt},
      [&](const store::EvaluationRow& row) {
        if (batch.metrics.size() + 2 > most_metrics) {
          batch.more = true;
          return;
        }
        batch.evaluation = row.step;
        add_metric(batch.metrics, "eval/loss", row.loss, row.at_ms, row.step);
        add_metric(batch.metrics, "eval/perplexity", row.perplexity, row.at_ms, row.step);
      });
  if (!read) return propagate(read);
  auto tags = tags_of(store, **program, newest);
  if (!tags) return propagate(tags);
  batch.tags = std::move(*tags);
  return batch;
}

}  // namespace trainward::tracking
