#include "supervisor/window/api/http/http.hpp"

#include "common/base/utf8.hpp"

namespace trainward::api {
namespace {

constexpr const char* problem_type = "application/problem+json";

// What the kinds of errors have in common, whatever was asked for.
std::string_view title_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::transient:
      return "Not now: try again";
    case ErrorKind::permanent:
      return "It fails until something is changed";
    case ErrorKind::corrupt:
      return "Data are damaged";
    case ErrorKind::usage:
      return "The request cannot be followed";
  }
  return "";
}

void write(Response& response, const json::value& value) {
  response.body = valid_utf8(json::serialize(value)) + "\n";
}

}  // namespace

std::string Request::header(const std::string& lower_case_name) const {
  const auto found = headers.find(lower_case_name);
  return found == headers.end() ? "" : found->second;
}

Response json_response(const json::value& value, int status) {
  Response response;
  response.status = status;
  write(response, value);
  return response;
}

Response error_response(int status, const Error& error) {
  const std::string kind(to_string(error.kind));
  Response response = json_response(
      {{"type", "/problems/" + kind},
       {"title", title_of(error.kind)},
       {"status", status},
       {"detail", error.message()},
       {"error",
        {{"kind", kind}, {"what", error.what}, {"where", error.where}, {"hint", error.hint}}}},
      status);
  response.content_type = problem_type;
  return response;
}

Response failed(const Error& error, int usage) {
  if (error.kind == ErrorKind::usage) return error_response(usage, error);
  if (error.kind != ErrorKind::transient) return error_response(500, error);
  Response response = error_response(503, error);
  response.headers["Retry-After"] = "1";
  return response;
}

void name_instance(Response& response, const std::string& path) {
  if (response.content_type != problem_type) return;
  auto problem = parse_json(response.body, path);
  if (!problem || !problem->is_object() || problem->as_object().contains("instance")) return;
  problem->as_object()["instance"] = path;
  write(response, *problem);
}

}  // namespace trainward::api
