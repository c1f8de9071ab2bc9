#include "supervisor/courier/tracking/mlflow/mlflow.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/base/digest.hpp"
#include "common/base/utf8.hpp"
#include "supervisor/courier/tracking/mlflow/mlflow_words.hpp"

namespace trainward::tracking {
namespace {

constexpr std::size_t most_params = 100;  // of the server, for one request

}  // namespace

// How far the server has been told.
struct Mlflow::Cursor {
  std::string run;     // ours
  std::string run_id;  // the server's
  bool params = false;
  Told told;
  std::string tags;    // a digest
  std::string status;  // RUNNING, …

  [[nodiscard]] std::string text() const {
    return json::serialize(json::object{{"run", run},
                                        {"run_id", run_id},
                                        {"params", params},
                                        {"step", told.step},
                                        {"shown_step", told.shown_step},
                                        {"evaluation", told.evaluation},
                                        {"pending_last", told.pending_last},
                                        {"pending_attempt", told.pending_attempt},
                                        {"tags", tags},
                                        {"status", status}});
  }
  static Cursor from(const std::string& text, const std::string& run) {
    Cursor cursor;
    cursor.run = run;
    const auto value = parse_json(text, "cursor");
    if (!value || !value->is_object()) return cursor;
    const json::object& object = value->get_object();
    if (string_or(object, "run", "") != run) return cursor;
    cursor.run_id = string_or(object, "run_id", "");
    cursor.params = bool_or(object, "params", false);
    cursor.told.step = int_or(object, "step", -1);
    cursor.told.shown_step = int_or(object, "shown_step", -1);
    cursor.told.evaluation = int_or(object, "evaluation", -1);
    cursor.told.pending_last = int_or(object, "pending_last", -1);
    cursor.told.pending_attempt = int_or(object, "pending_attempt", 0);
    cursor.tags = string_or(object, "tags", "");
    cursor.status = string_or(object, "status", "");
    return cursor;
  }
};

Mlflow::Mlflow(orders::TrackingOrder order, Memory& memory, const net::Settings& network,
               const std::stop_token& stop)
    : order_(std::move(order)), memory_(memory), server_(*order_.tracking.mlflow, network, stop) {}

Status Mlflow::keep(const Cursor& cursor) { return memory_.put(cursor.text()); }

Status Mlflow::find_run(const Batch& batch, Cursor& cursor) {
  auto run_id = server_.find_run(cursor.run, order_.program, batch.began_ms);
  if (!run_id) return propagate(run_id);
  cursor.run_id = std::move(*run_id);
  return keep(cursor);
}

// Another run gets everything.
Status Mlflow::begin_anew(Cursor& cursor) {
  const std::string run = cursor.run;
  cursor = Cursor();
  cursor.run = run;
  if (auto kept = keep(cursor); !kept) return kept;
  return fail(ErrorKind::transient, "the run is gone from MLflow and is recreated", server_.host());
}

Status Mlflow::log(Cursor& cursor, json::object content) {
  auto outcome = server_.log(cursor.run_id, std::move(content));
  if (!outcome) return propagate(outcome);
  return *outcome == MlflowServer::Outcome::gone ? begin_anew(cursor) : Status();
}

// One that is refused, as its value is another than was told before, has all beside it refused with
// it: those are told in halves.
Status Mlflow::log_params(Cursor& cursor, const json::array& params) {
  std::vector<json::array> untold{params};
  while (!untold.empty()) {
    const json::array some = std::move(untold.back());
    untold.pop_back();
    if (some.empty()) continue;
    auto sent = log(cursor, {{"params", some}});
    if (sent) continue;
    const bool told_before = sent.error().kind == ErrorKind::permanent &&
                             sent.error().what.find("INVALID_PARAMETER_VALUE") != std::string::npos;
    if (!told_before) return sent;
    if (some.size() == 1) continue;
    const auto* middle = some.begin() + some.size() / 2;
    untold.emplace_back(middle, some.end());
    untold.emplace_back(some.begin(), middle);
  }
  return {};
}

// They cannot be changed: those of the first attempt stay, also when the configuration is another.
Status Mlflow::send_params(Cursor& cursor) {
  json::array params;
  for (const auto& [name, value] : order_.hparams) {
    const std::string text =
        value.is_string() ? std::string(value.get_string()) : json::serialize(value);
    params.push_back(
        json::object{{"key", key_of(name)}, {"value", shortened(valid_utf8(text), longest_param)}});
    if (params.size() < most_params) continue;
    if (auto sent = log_params(cursor, std::exchange(params, {})); !sent) return sent;
  }
  if (auto sent = log_params(cursor, params); !sent) return sent;
  cursor.params = true;
  return keep(cursor);
}

Status Mlflow::send_status(const Batch& batch, Cursor& cursor) {
  const std::string tags = sha256_hex(json::serialize(batch.tags));
  if (tags != cursor.tags) {
    if (auto sent = log(cursor, {{"tags", batch.tags}}); !sent) return sent;
    cursor.tags = tags;
    if (auto kept = keep(cursor); !kept) return kept;
  }
  if (batch.status == cursor.status) return {};
  json::object body{{"status", batch.status}};
  if (is_over(batch.status)) body["end_time"] = batch.ended_ms;
  auto outcome = server_.set_status(cursor.run_id, std::move(body));
  if (!outcome) return propagate(outcome);
  if (*outcome == MlflowServer::Outcome::gone) return begin_anew(cursor);
  cursor.status = batch.status;
  return keep(cursor);
}

Result<bool> Mlflow::advance(const store::Store& store, std::int64_t now_ms) {
  server_.at(now_ms);
  auto run = run_identity(store, order_.program);
  if (!run) return propagate(run);
  if (!*run) return false;  // nothing has been done yet
  auto text = memory_.get();
  if (!text) return propagate(text);
  Cursor cursor = Cursor::from(*text, **run);
  auto batch = gather(store, order_, cursor.told);
  if (!batch) return propagate(batch);
  if (cursor.run_id.empty()) {
    if (auto found = find_run(*batch, cursor); !found) return propagate(found);
  }
  if (!cursor.params) {
    if (auto sent = send_params(cursor); !sent) return propagate(sent);
  }
  if (!batch->metrics.empty()) {
    if (cursor.told.pending_last == nothing_pending) {
      cursor.told.pending_last = std::max(batch->last, batch->evaluation);
      cursor.told.pending_attempt = batch->newest_attempt;
      if (auto kept = keep(cursor); !kept) return propagate(kept);
    }
    auto sent = log(cursor, {{"metrics", std::move(batch->metrics)}});
    if (!sent) return propagate(sent);
  }
  const bool moved = batch->last != cursor.told.step || batch->evaluation != cursor.told.evaluation;
  if (moved || cursor.told.pending_last != nothing_pending) {
    cursor.told.step = batch->last;
    cursor.told.shown_step = batch->shown_step;
    cursor.told.evaluation = batch->evaluation;
    cursor.told.pending_last = nothing_pending;
    if (auto kept = keep(cursor); !kept) return propagate(kept);
  }
  if (batch->more || moved) return true;
  if (auto sent = send_status(*batch, cursor); !sent) return propagate(sent);
  return false;
}

}  // namespace trainward::tracking
