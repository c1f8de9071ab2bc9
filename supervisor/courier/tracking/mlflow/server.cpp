#include "supervisor/courier/tracking/mlflow/server.hpp"

#include <fmt/format.h>

#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/percent.hpp"
#include "supervisor/courier/net/http_retry.hpp"
#include "supervisor/courier/tracking/credential.hpp"
#include "supervisor/courier/tracking/mlflow/mlflow_words.hpp"

namespace trainward::tracking {
namespace {

constexpr const char* run_tag = "trainward.run";

}  // namespace

Result<MlflowServer::Reply> MlflowServer::call(const std::string& method, const std::string& what,
                                               const json::object* body) {
  auto allowed = authorization(place_.token_file);
  if (!allowed) return propagate(allowed);
  net::Request request;
  request.method = method;
  request.url = place_.url + "/api/2.0/mlflow/" + what;
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
  const std::string host = this->host();
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

tl::unexpected<Error> MlflowServer::refused(const Reply& reply, const std::string& what) const {
  return fail(ErrorKind::permanent,
              fmt::format("MLflow refuses {} (answer {}{}{})", what, reply.status,
                          reply.code.empty() ? "" : ", ", reply.code.substr(0, 60)),
              host(), "look at the server's log");
}

Result<std::string> MlflowServer::find_experiment() {
  const std::string& name = place_.experiment;
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
                    host(), "restore it there, or name another in tracking.mlflow.experiment");
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
Result<std::string> MlflowServer::find_run(const std::string& run_name, const std::string& program,
                                           std::int64_t began_ms) {
  auto experiment = find_experiment();
  if (!experiment) return propagate(experiment);
  const json::object query{{"experiment_ids", json::array{*experiment}},
                           {"filter", fmt::format("tags.`{}` = '{}'", run_tag, run_name)},
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
        {"run_name", program},
        {"start_time", began_ms},
        {"tags", json::array{tag(run_tag, run_name), tag("mlflow.source.name", "trainward")}}};
    auto created = call("POST", "runs/create", &body);
    if (!created) return propagate(created);
    if (created->status != 200) return refused(*created, "the run");
    made = std::move(*created);
    const auto there = get_object(made.body, "run");
    if (!there) return refused(made, "to name the run");
    run = *there;
  }
  const auto info = get_object(*run, "info");
  std::string run_id = info ? string_or(**info, "run_id", "") : "";
  if (run_id.empty()) return refused(*found, "to name the run");
  return run_id;
}

// Somebody removed the run there: for good, or into the bin, where it takes nothing.
Result<bool> MlflowServer::is_gone(const Reply& refusal, const std::string& run_id) {
  const auto missing = [](const Reply& reply) {
    return reply.status == 404 || reply.code == "RESOURCE_DOES_NOT_EXIST";
  };
  if (missing(refusal)) return true;
  auto found = call("GET", "runs/get?run_id=" + percent_encoded(run_id), nullptr);
  if (!found) return propagate(found);
  if (missing(*found)) return true;
  const auto run = get_object(found->body, "run");
  const auto info = run ? get_object(**run, "info") : run;
  return info && string_or(**info, "lifecycle_stage", "active") == "deleted";
}

Result<MlflowServer::Outcome> MlflowServer::tell(const std::string& what, const std::string& run_id,
                                                 json::object body, const std::string& told) {
  body["run_id"] = run_id;
  auto done = call("POST", what, &body);
  if (!done) return propagate(done);
  if (done->status == 200) return Outcome::done;
  auto gone = is_gone(*done, run_id);
  if (!gone) return propagate(gone);
  if (*gone) return Outcome::gone;
  return refused(*done, told);
}

Result<MlflowServer::Outcome> MlflowServer::log(const std::string& run_id, json::object content) {
  return tell("runs/log-batch", run_id, std::move(content), "what it is told");
}

Result<MlflowServer::Outcome> MlflowServer::set_status(const std::string& run_id,
                                                       json::object status) {
  return tell("runs/update", run_id, std::move(status), "the state of the run");
}

}  // namespace trainward::tracking
