#include "supervisor/tracking/mlflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "common/base/digest.hpp"
#include "common/base/utf8.hpp"
#include "supervisor/net/retry.hpp"
#include "supervisor/tracking/credential.hpp"
#include "supervisor/tracking/step_metrics.hpp"
#include "supervisor/tracking/verdict.hpp"

namespace trainward::tracking {
namespace {

// The server's limits for one request, and room for what is around the metrics: 1 MB in all.
constexpr std::size_t most_metrics = 1000;
constexpr std::size_t most_params = 100;
constexpr std::int64_t rows_in_a_batch = 110;  // of at most eight metrics and 110 bytes each
constexpr std::size_t longest_key = 250;
constexpr std::size_t longest_param = 500;  // of the oldest servers
constexpr std::size_t longest_tag = 4500;
constexpr std::int64_t verdicts_shown = 20;
constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
constexpr const char* run_tag = "trainward.run";

std::string shortened(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  text.resize(utf8_valid_prefix(std::string_view(text).substr(0, most - 3)));
  return text + "...";
}

// Letters, digits and what else a metric or parameter may be called by.
std::string key_of(std::string_view name) {
  std::string key(name.substr(0, longest_key));
  std::replace_if(
      key.begin(), key.end(),
      [](unsigned char c) {
        return c >= 0x80 ||
               (std::isalnum(c) == 0 &&
                std::string_view("_-./ ").find(static_cast<char>(c)) == std::string_view::npos);
      },
      '_');
  return key;
}

json::object tag(std::string_view key, std::string value) {
  return {{"key", key}, {"value", shortened(valid_utf8(std::move(value)), longest_tag)}};
}

void add_metric(json::array& metrics, const char* key, const std::optional<double>& value,
                std::int64_t at_ms, std::int64_t step) {
  if (!value) return;
  // The database keeps a number that is none as an infinite one.
  json::value shown = std::isfinite(*value) ? json::value(*value) : json::value("NaN");
  metrics.push_back(json::object{
      {"key", key}, {"value", std::move(shown)}, {"timestamp", at_ms}, {"step", step}});
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.') {
      out += c;
    } else {
      out += fmt::format("%{:02X}", byte);
    }
  }
  return out;
}

// What became of a program, in MLflow's words. A crash that is followed by another attempt is none.
std::string_view status_of(const std::string& state) {
  if (state == "EXITED") return "FINISHED";
  if (state == "FATAL") return "FAILED";
  if (state == "STOPPED") return "KILLED";
  return "RUNNING";
}

bool is_over(std::string_view status) { return status != "RUNNING"; }

}  // namespace

// How far the server has been told.
struct Mlflow::Cursor {
  std::string run;     // ours
  std::string run_id;  // the server's
  bool params = false;
  std::int64_t step = -1;        // looked at up to here
  std::int64_t shown_step = -1;  // the last one sent
  std::int64_t evaluation = -1;
  // Of what is being sent, so that the same is sent again: -1: nothing is.
  std::int64_t pending_last = -1;
  std::int64_t pending_attempt = 0;
  std::string tags;    // a digest
  std::string status;  // RUNNING, …

  [[nodiscard]] std::string text() const {
    return json::serialize(json::object{{"run", run},
                                        {"run_id", run_id},
                                        {"params", params},
                                        {"step", step},
                                        {"shown_step", shown_step},
                                        {"evaluation", evaluation},
                                        {"pending_last", pending_last},
                                        {"pending_attempt", pending_attempt},
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
    cursor.step = int_or(object, "step", -1);
    cursor.shown_step = int_or(object, "shown_step", -1);
    cursor.evaluation = int_or(object, "evaluation", -1);
    cursor.pending_last = int_or(object, "pending_last", -1);
    cursor.pending_attempt = int_or(object, "pending_attempt", 0);
    cursor.tags = string_or(object, "tags", "");
    cursor.status = string_or(object, "status", "");
    return cursor;
  }
};

// What is to be told.
struct Mlflow::Batch {
  json::array metrics;
  std::int64_t last = -1;  // of the steps looked at
  std::int64_t shown_step = -1;
  std::int64_t evaluation = -1;
  std::int64_t newest_attempt = 0;
  bool more = false;
  json::array tags;
  std::string_view status = "RUNNING";
  std::int64_t began_ms = 0;
  std::int64_t ended_ms = 0;
};

Mlflow::Mlflow(orders::TrackingOrder order, Memory& memory, const net::Settings& network,
               const std::stop_token& stop)
    : order_(std::move(order)), memory_(memory), client_(network, stop) {}

Status Mlflow::keep(const Cursor& cursor) { return memory_.put(cursor.text()); }

// ---- from the run database ----

namespace {

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

Result<Mlflow::Batch> Mlflow::gather(const store::Store& store, const Cursor& cursor) const {
  const auto snapshot = store.snapshot();
  Batch batch;
  auto program = store.program(order_.program);
  if (!program) return propagate(program);
  auto first = store.attempt_from(order_.program, 0);
  if (!first) return propagate(first);
  auto attempts = store.newest_attempt(order_.program);
  if (!attempts) return propagate(attempts);
  if (!*program || !*first || !*attempts) {
    return fail(ErrorKind::transient, "the program is gone from the run database", order_.program);
  }
  const store::AttemptRow& newest = **attempts;
  batch.status = status_of((*program)->state);
  batch.began_ms = began_ms(**first);
  batch.ended_ms = newest.ended_ms;
  auto settled = settled_step(store, newest, is_over(batch.status));
  if (!settled) return propagate(settled);
  const bool again = cursor.pending_last >= 0;
  batch.newest_attempt = again ? cursor.pending_attempt : newest.number;
  const std::int64_t last = again ? cursor.pending_last : *settled;

  batch.last = cursor.step;
  batch.shown_step = cursor.shown_step;
  batch.evaluation = cursor.evaluation;
  const std::int64_t every = order_.tracking.every;
  std::int64_t rows = 0;
  auto read = store.each_curve_step(
      order_.program, {cursor.step, last, batch.newest_attempt}, rows_in_a_batch,
      [&](const store::StepRow& row) {
        ++rows;
        batch.last = row.step;
        const bool shown = batch.shown_step < 0 || row.step / every != batch.shown_step / every;
        if (!shown) return;
        batch.shown_step = row.step;
        each_metric(row, [&](const char* tag, const std::optional<double>& value) {
          add_metric(batch.metrics, tag, value, row.at_ms, row.step);
        });
      });
  if (!read) return propagate(read);
  batch.more = rows == rows_in_a_batch;
  // Those of steps that come later come with them.
  const std::int64_t reach = batch.more ? batch.last : last;
  read = store.each_curve_evaluation(
      order_.program, {cursor.evaluation, reach, batch.newest_attempt},
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

// ---- to the server ----

Result<Mlflow::Reply> Mlflow::call(const std::string& method, const std::string& what,
                                   const json::object* body) {
  auto allowed = authorization(order_.tracking.mlflow->token_file);
  if (!allowed) return propagate(allowed);
  net::Request request;
  request.method = method;
  request.url = order_.tracking.mlflow->url + "/api/2.0/mlflow/" + what;
  if (!allowed->empty()) request.headers.push_back({"Authorization", *allowed});
  if (body != nullptr) {
    request.headers.push_back({"Content-Type", "application/json"});
    request.body = json::serialize(*body);
  }
  request.most_answer_bytes = std::int64_t{1024} * 1024;
  auto answer = client_.send(request);
  if (!answer) return propagate(answer);
  Reply reply;
  reply.status = answer->status;
  const std::string host = net::shown_host(order_.tracking.mlflow->url);
  if (net::may_be_retried(reply.status)) {
    const auto asked = net::asked_to_wait_ms(*answer, now_ms_);
    if (asked) wait_until_ms_ = now_ms_ + *asked;
    return fail(ErrorKind::transient, fmt::format("MLflow answers {}", reply.status), host,
                "it is tried again");
  }
  if (reply.status == 401 || reply.status == 403) {
    return fail(ErrorKind::permanent,
                fmt::format("MLflow does not let us in (answer {})", reply.status), host,
                "tracking.mlflow.token_file names the file with the token or `user:password`");
  }
  const auto value = parse_json(answer->body, host);
  if (value && value->is_object()) reply.body = value->get_object();
  if (reply.status >= 200 && reply.status < 300) {
    if (value && value->is_object()) return reply;
    return fail(ErrorKind::transient, "what answers there is not MLflow", host,
                "look at tracking.mlflow.url");
  }
  reply.code = string_or(reply.body, "error_code", "");
  std::erase_if(reply.code, [](unsigned char c) { return std::isupper(c) == 0 && c != '_'; });
  return reply;
}

tl::unexpected<Error> Mlflow::refused(const Reply& reply, const std::string& what) const {
  return fail(ErrorKind::permanent,
              fmt::format("MLflow refuses {} (answer {}{}{})", what, reply.status,
                          reply.code.empty() ? "" : ", ", reply.code.substr(0, 60)),
              net::shown_host(order_.tracking.mlflow->url), "look at the server's log");
}

Result<std::string> Mlflow::find_experiment() {
  const std::string& name = order_.tracking.mlflow->experiment;
  const std::string by_name = "experiments/get-by-name?experiment_name=" + percent_encoded(name);
  // Made by somebody else meanwhile, or by us with the answer lost, it is found the second time.
  for (int tries = 0; tries < 2; ++tries) {
    auto found = call("GET", by_name, nullptr);
    if (!found) return propagate(found);
    if (found->status == 200) {
      const auto experiment = get_object(found->body, "experiment");
      if (!experiment) return refused(*found, "to name the experiment");
      if (string_or(**experiment, "lifecycle_stage", "active") == "deleted") {
        return fail(ErrorKind::permanent, fmt::format("the experiment '{}' was deleted", name),
                    net::shown_host(order_.tracking.mlflow->url),
                    "restore it there, or name another in tracking.mlflow.experiment");
      }
      return string_or(**experiment, "experiment_id", "");
    }
    if (found->status != 404) return refused(*found, "to look for the experiment");
    const json::object body{{"name", name}};
    auto made = call("POST", "experiments/create", &body);
    if (!made) return propagate(made);
    if (made->status == 200) return string_or(made->body, "experiment_id", "");
    if (made->code != "RESOURCE_ALREADY_EXISTS") return refused(*made, "the experiment");
  }
  return fail(ErrorKind::transient, "the experiment is neither there nor to be made", name);
}

// Looked for before it is made: the answer to an earlier try may have been lost.
Status Mlflow::find_run(const Batch& batch, Cursor& cursor) {
  auto experiment = find_experiment();
  if (!experiment) return propagate(experiment);
  const json::object query{{"experiment_ids", json::array{*experiment}},
                           {"filter", fmt::format("tags.`{}` = '{}'", run_tag, cursor.run)},
                           {"max_results", 1}};
  auto found = call("POST", "runs/search", &query);
  if (!found) return propagate(found);
  if (found->status != 200) return refused(*found, "to look for the run");
  const json::object* run = nullptr;
  if (const auto runs = get_array(found->body, "runs"); runs && !(*runs)->empty()) {
    run = (*runs)->front().if_object();
  }
  Reply made;
  if (run == nullptr) {
    const json::object body{
        {"experiment_id", *experiment},
        {"run_name", order_.program},
        {"start_time", batch.began_ms},
        {"tags", json::array{tag(run_tag, cursor.run), tag("mlflow.source.name", "trainward")}}};
    auto created = call("POST", "runs/create", &body);
    if (!created) return propagate(created);
    if (created->status != 200) return refused(*created, "the run");
    made = std::move(*created);
    const auto there = get_object(made.body, "run");
    if (!there) return refused(made, "to name the run");
    run = *there;
  }
  const auto info = get_object(*run, "info");
  cursor.run_id = info ? string_or(**info, "run_id", "") : "";
  if (cursor.run_id.empty()) return refused(*found, "to name the run");
  return keep(cursor);
}

// Somebody removed the run there: for good, or into the bin, where it takes nothing.
Result<bool> Mlflow::is_gone(const Reply& refusal, const Cursor& cursor) {
  const auto missing = [](const Reply& reply) {
    return reply.status == 404 || reply.code == "RESOURCE_DOES_NOT_EXIST";
  };
  if (missing(refusal)) return true;
  auto found = call("GET", "runs/get?run_id=" + percent_encoded(cursor.run_id), nullptr);
  if (!found) return propagate(found);
  if (missing(*found)) return true;
  const auto run = get_object(found->body, "run");
  const auto info = run ? get_object(**run, "info") : run;
  return info && string_or(**info, "lifecycle_stage", "active") == "deleted";
}

// Another run gets everything.
Status Mlflow::begin_anew(Cursor& cursor) {
  const std::string run = cursor.run;
  cursor = Cursor();
  cursor.run = run;
  if (auto kept = keep(cursor); !kept) return kept;
  return fail(ErrorKind::transient, "the run is gone from MLflow, and is made anew",
              net::shown_host(order_.tracking.mlflow->url));
}

Status Mlflow::log(Cursor& cursor, json::object content) {
  content["run_id"] = cursor.run_id;
  auto done = call("POST", "runs/log-batch", &content);
  if (!done) return propagate(done);
  if (done->status == 200) return {};
  auto gone = is_gone(*done, cursor);
  if (!gone) return propagate(gone);
  return *gone ? begin_anew(cursor) : refused(*done, "what it is told");
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
  json::object body{{"run_id", cursor.run_id}, {"status", batch.status}};
  if (is_over(batch.status)) body["end_time"] = batch.ended_ms;
  auto done = call("POST", "runs/update", &body);
  if (!done) return propagate(done);
  if (done->status != 200) {
    auto gone = is_gone(*done, cursor);
    if (!gone) return propagate(gone);
    return *gone ? begin_anew(cursor) : refused(*done, "the state of the run");
  }
  cursor.status = batch.status;
  return keep(cursor);
}

Result<bool> Mlflow::advance(const store::Store& store, std::int64_t now_ms) {
  now_ms_ = now_ms;
  wait_until_ms_ = 0;
  auto run = run_identity(store, order_.program);
  if (!run) return propagate(run);
  if (!*run) return false;  // nothing has been done yet
  auto text = memory_.get();
  if (!text) return propagate(text);
  Cursor cursor = Cursor::from(*text, **run);
  auto batch = gather(store, cursor);
  if (!batch) return propagate(batch);
  if (cursor.run_id.empty()) {
    if (auto found = find_run(*batch, cursor); !found) return propagate(found);
  }
  if (!cursor.params) {
    if (auto sent = send_params(cursor); !sent) return propagate(sent);
  }
  if (!batch->metrics.empty()) {
    if (cursor.pending_last < 0) {
      cursor.pending_last = std::max(batch->last, batch->evaluation);
      cursor.pending_attempt = batch->newest_attempt;
      if (auto kept = keep(cursor); !kept) return propagate(kept);
    }
    auto sent = log(cursor, {{"metrics", std::move(batch->metrics)}});
    if (!sent) return propagate(sent);
  }
  const bool moved = batch->last != cursor.step || batch->evaluation != cursor.evaluation;
  if (moved || cursor.pending_last >= 0) {
    cursor.step = batch->last;
    cursor.shown_step = batch->shown_step;
    cursor.evaluation = batch->evaluation;
    cursor.pending_last = -1;
    if (auto kept = keep(cursor); !kept) return propagate(kept);
  }
  if (batch->more || moved) return true;
  if (auto sent = send_status(*batch, cursor); !sent) return propagate(sent);
  return false;
}

}  // namespace trainward::tracking
