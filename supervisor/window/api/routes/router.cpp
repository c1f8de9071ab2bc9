#include "supervisor/window/api/routes/router.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "common/base/number_in.hpp"
#include "supervisor/window/api/http/revalidation.hpp"

namespace trainward::api {
namespace {

std::vector<std::string> words_of(std::string_view path) {
  std::vector<std::string> words;
  for (std::size_t at = 1; at <= path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    words.emplace_back(path.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// What stands for the stars; nothing when it is another path.
std::optional<std::vector<std::string>> match(const std::vector<std::string>& pattern,
                                              const std::vector<std::string>& path) {
  if (pattern.size() != path.size()) return std::nullopt;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (pattern[i] == "*" && !path[i].empty()) {
      names.push_back(path[i]);
    } else if (pattern[i] != path[i]) {
      return std::nullopt;
    }
  }
  return names;
}

bool fits(const Parameter& parameter, const std::string& value) {
  if (parameter.text) return !value.empty();
  const auto& words = parameter.words;
  if (!words.empty()) return std::find(words.begin(), words.end(), value) != words.end();
  const auto number = whole_number(value);
  return number && *number >= parameter.least;
}

std::string allowed_by(const Parameter& parameter) {
  if (parameter.text) return "something";
  if (!parameter.words.empty()) return fmt::format("{}", fmt::join(parameter.words, " or "));
  if (parameter.least == std::numeric_limits<std::int64_t>::min()) return "a whole number";
  return fmt::format("a whole number, {} or more", parameter.least);
}

// What is wrong with the query, in a sentence; empty: nothing.
std::string wrong_in(const Request& request, const Route& route) {
  for (const auto& [key, value] : request.query) {
    const auto known =
        std::find_if(route.parameters.begin(), route.parameters.end(),
                     [&key = key](const Parameter& parameter) { return parameter.name == key; });
    if (known == route.parameters.end()) {
      std::vector<std::string> names;
      for (const Parameter& parameter : route.parameters) names.push_back(parameter.name);
      return fmt::format("there is no parameter '{}' (= '{}') here: {}", key, value,
                         names.empty() ? "none is allowed"
                                       : fmt::format("allowed are {}", fmt::join(names, ", ")));
    }
    if (!fits(*known, value)) {
      return fmt::format("the parameter '{}' is '{}': it must be {}", key, value,
                         allowed_by(*known));
    }
  }
  return {};
}

// Those that other servers know; to them the answer is that this path does not take them.
bool is_method_of_http(const std::string& method) {
  constexpr std::array<std::string_view, 9> known{"GET",    "HEAD",    "POST",  "PUT",    "PATCH",
                                                  "DELETE", "OPTIONS", "TRACE", "CONNECT"};
  return std::find(known.begin(), known.end(), method) != known.end();
}

std::string where(const Request& request) { return request.method + " " + request.path; }

std::optional<Response> not_allowed(const Request& request, Role needs) {
  if (request.by.role >= needs) return std::nullopt;
  if (request.by.role == Role::nobody) {
    Response refusal = error_response(
        401, {ErrorKind::usage, "this needs a login", where(request),
              "open the page with `trainwardctl open`, or send `Authorization: Bearer TOKEN`"});
    refusal.headers["WWW-Authenticate"] = "Bearer realm=\"trainward\"";
    return refusal;
  }
  return error_response(
      403, {ErrorKind::usage,
            fmt::format("{} may read and change nothing",
                        request.by.name.empty() ? "a viewer" : request.by.name),
            where(request), "use an operator's token, or trainwardctl on the machine itself"});
}

}  // namespace

std::optional<std::int64_t> whole_number(const std::string& text) {
  return number_in<std::int64_t>(text);
}

std::optional<std::int64_t> Asked::number(const std::string& parameter) const {
  const auto found = request_->query.find(parameter);
  return found == request_->query.end() ? std::nullopt : whole_number(found->second);
}

std::string Asked::word(const std::string& parameter, const std::string& otherwise) const {
  const auto found = request_->query.find(parameter);
  return found == request_->query.end() ? otherwise : found->second;
}

Handler make_router(std::vector<Route> routes) {
  std::vector<std::vector<std::string>> patterns;
  patterns.reserve(routes.size());
  for (const Route& route : routes) patterns.push_back(words_of(route.path));
  return [routes = std::move(routes), patterns = std::move(patterns)](const Request& request,
                                                                      const Respond& respond) {
    if (!is_method_of_http(request.method)) {
      return respond(error_response(
          501, {ErrorKind::usage, "there is no such method", where(request), "use GET or POST"}));
    }
    const std::string method = request.method == "HEAD" ? "GET" : request.method;
    const std::vector<std::string> path = words_of(request.path);
    std::string allowed;
    for (std::size_t i = 0; i < routes.size(); ++i) {
      auto names = match(patterns[i], path);
      if (!names) continue;
      const Route& route = routes[i];
      if (route.method != method) {
        allowed += (allowed.empty() ? "" : ", ") + route.method;
        if (route.method == "GET") allowed += ", HEAD";
        continue;
      }
      if (auto refusal = not_allowed(request, route.needs)) return respond(std::move(*refusal));
      if (std::string wrong = wrong_in(request, route); !wrong.empty()) {
        return respond(error_response(400, {ErrorKind::usage, std::move(wrong), where(request),
                                            "docs/api.md lists what each request takes"}));
      }
      const bool reads = route.method == "GET";
      return route.answer(Asked(request, std::move(*names)),
                          reads ? revalidated(request, respond) : respond);
    }
    if (allowed.empty()) {
      return respond(
          error_response(404, {ErrorKind::usage, "there is no such resource", where(request),
                               "this daemon speaks version 1 of the API"}));
    }
    Response refusal = error_response(
        405, {ErrorKind::usage, "only " + allowed + " is understood", where(request), ""});
    refusal.headers["Allow"] = allowed;
    respond(std::move(refusal));
  };
}

}  // namespace trainward::api
