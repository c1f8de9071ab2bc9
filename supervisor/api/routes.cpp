#include "supervisor/api/routes.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

namespace trainward::api {
namespace {

constexpr std::int64_t max_samples = 10'000;
constexpr std::int64_t usual_samples = 360;  // an hour of them
constexpr std::int64_t max_log_bytes = 1024 * 1024;

std::optional<std::int64_t> number(const Request& request, const std::string& key) {
  const auto found = request.query.find(key);
  if (found == request.query.end()) return std::nullopt;
  std::int64_t value = 0;
  const char* end = found->second.data() + found->second.size();
  const auto parsed = std::from_chars(found->second.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

int status_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::usage:
      return 404;
    case ErrorKind::transient:
      return 503;
    case ErrorKind::permanent:
    case ErrorKind::corrupt:
      return 500;
  }
  return 500;
}

Response response_of(const Result<json::value>& result) {
  return result ? json_response(*result)
                : error_response(status_of(result.error()), result.error());
}

Control::Answer answer_to(const Respond& respond) {
  return {[respond](const Result<json::value>& result) { respond(response_of(result)); },
          [respond] { return respond.wanted(); }};
}

std::vector<std::string> segments(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t at = 1; at <= path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    parts.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

Response log_response(const Control& control, const std::string& program, const Request& request) {
  const auto stream = request.query.find("stream");
  auto slice = control.log(
      program, stream == request.query.end() ? "stdout" : stream->second,
      number(request, "attempt"), number(request, "offset").value_or(0),
      std::clamp<std::int64_t>(number(request, "limit").value_or(max_log_bytes), 0, max_log_bytes));
  if (!slice) return error_response(status_of(slice.error()), slice.error());
  Response response;
  response.content_type = "text/plain; charset=utf-8";
  response.headers["X-Log-Offset"] = std::to_string(slice->offset);
  response.headers["X-Log-Size"] = std::to_string(slice->size);
  response.headers["X-Log-Attempt"] = std::to_string(slice->attempt);
  response.body = std::move(slice->bytes);
  return response;
}

Result<json::value> samples(const Control& control, const std::string& serial,
                            const Request& request) {
  const std::int64_t limit = number(request, "limit").value_or(usual_samples);
  return control.board_samples(serial, number(request, "after").value_or(-1),
                               std::clamp<std::int64_t>(limit, 1, max_samples));
}

Response not_found(const Request& request) {
  return error_response(
      404, Error{ErrorKind::usage, "there is no such resource", request.method + " " + request.path,
                 "this daemon speaks version 1 of the API"});
}

void program_get(Control& control, const std::string& name, const std::string& what,
                 const Request& request, const Respond& respond) {
  if (what == "history") return respond(response_of(control.history(name)));
  if (what == "why") return respond(response_of(control.why(name, number(request, "attempt"))));
  if (what == "report") return respond(response_of(control.report(name)));
  if (what == "checkpoints") return respond(response_of(control.checkpoints(name)));
  if (what == "evaluations") return respond(response_of(control.evaluations(name)));
  if (what == "compiled") return respond(response_of(control.compiled(name)));
  if (what == "events") {
    return respond(response_of(control.events(name, number(request, "after").value_or(0))));
  }
  if (what == "log") return respond(log_response(control, name, request));
  respond(not_found(request));
}

std::optional<Verb> verb_of(const std::string& word) {
  if (word == "start") return Verb::start;
  if (word == "stop") return Verb::stop;
  if (word == "restart") return Verb::restart;
  return std::nullopt;
}

void get(Control& control, const std::string& what, const Request& request,
         const Respond& respond) {
  if (what == "version") return respond(json_response(control.version()));
  if (what == "programs") return respond(response_of(control.status()));
  if (what == "history") return respond(response_of(control.history("")));
  if (what == "events") {
    return respond(response_of(control.events("", number(request, "after").value_or(0))));
  }
  if (what == "probe") return respond(response_of(control.last_probe()));
  if (what == "boards") return respond(response_of(control.boards()));
  respond(not_found(request));
}

ProbeRequest probe_request(const Request& request) {
  return {number(request, "deep").value_or(0) != 0, number(request, "record").value_or(1) != 0};
}

void post(Control& control, const std::string& what, const Request& request,
          const Respond& respond) {
  if (what == "reread") return respond(response_of(control.reread()));
  if (what == "update") return control.update(answer_to(respond));
  if (what == "reload") return respond(response_of(control.reload()));
  if (what == "upgrade") return control.upgrade(answer_to(respond));
  if (what == "shutdown") return respond(response_of(control.shutdown()));
  if (what == "probe") return control.probe(probe_request(request), answer_to(respond));
  respond(not_found(request));
}

}  // namespace

Handler make_routes(Control& control) {
  return [&control](const Request& request, const Respond& respond) {
    const std::vector<std::string> parts = segments(request.path);
    const bool reading = request.method == "GET";
    if (!reading && request.method != "POST") {
      return respond(error_response(
          405, Error{ErrorKind::usage, "only GET and POST are understood", request.method, ""}));
    }
    if (parts.size() < 2 || parts[0] != "v1") return respond(not_found(request));
    if (parts.size() == 4 && parts[1] == "programs" && reading) {
      return program_get(control, parts[2], parts[3], request, respond);
    }
    if (parts.size() == 4 && parts[1] == "boards" && parts[3] == "samples" && reading) {
      return respond(response_of(samples(control, parts[2], request)));
    }
    const auto verb = reading || parts[1] != "programs" ? std::nullopt : verb_of(parts.back());
    if (parts.size() == 4 && verb) {
      return control.command(parts[2], *verb, answer_to(respond));
    }
    if (parts.size() == 3 && verb) return control.command_all(*verb, answer_to(respond));
    if (parts.size() != 2) return respond(not_found(request));
    return reading ? get(control, parts[1], request, respond)
                   : post(control, parts[1], request, respond);
  };
}

}  // namespace trainward::api
