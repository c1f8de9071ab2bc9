#include "supervisor/window/api/http/guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "common/base/text.hpp"

namespace trainward::api {
namespace {

Response forbidden(std::string what, std::string where, std::string hint) {
  return error_response(403,
                        {ErrorKind::usage, std::move(what), std::move(where), std::move(hint)});
}

// Without its port; empty when what follows the name is no port.
std::string_view name_of(std::string_view host) {
  const auto bracket = host.starts_with('[') ? host.find(']') : 0;
  if (bracket == std::string_view::npos) return {};
  const auto colon = host.find(':', bracket);
  if (colon == std::string_view::npos) return host;
  if (host.find_first_not_of("0123456789", colon + 1) != std::string_view::npos) return {};
  return host.substr(0, colon);
}

std::string_view without(std::string_view text, std::string_view ending) {
  return text.ends_with(ending) ? text.substr(0, text.size() - ending.size()) : text;
}

// "http://localhost:8420" of the Host "localhost:8420". TLS may end at a proxy before us.
bool is_origin_of(const std::string& origin, const std::string& host) {
  const std::string from = lower_case(origin);
  const std::string here = lower_case(host);
  if (here.empty()) return false;
  if (from.starts_with("http://")) {
    return without(std::string_view(from).substr(7), ":80") == without(here, ":80");
  }
  if (from.starts_with("https://")) {
    return without(std::string_view(from).substr(8), ":443") == without(here, ":443");
  }
  return false;
}

bool is_json(const std::string& content_type) {
  const std::string type = lower_case(content_type.substr(0, content_type.find(';')));
  const auto end = type.find_last_not_of(" \t");
  return end != std::string::npos && type.substr(0, end + 1) == "application/json";
}

bool is_of_a_browser(const Request& request) {
  return std::any_of(request.headers.begin(), request.headers.end(), [](const auto& header) {
    return header.first == "origin" || header.first == "referer" ||
           header.first.starts_with("sec-fetch-");
  });
}

}  // namespace

bool Guard::names_this_machine(const std::string& host) const {
  const std::string name = lower_case(std::string(name_of(host)));
  constexpr std::array<std::string_view, 3> usual{"localhost", "127.0.0.1", "[::1]"};
  return std::find(usual.begin(), usual.end(), name) != usual.end() ||
         (!name.empty() && std::any_of(hosts.begin(), hosts.end(), [&](const std::string& allowed) {
           return lower_case(allowed) == name;
         }));
}

std::optional<Response> Guard::refusal(const Request& request) const {
  const std::string host = request.header("host");
  // Only a client of HTTP/1.0, which is no browser, has none.
  if (request.headers.contains("host") && !names_this_machine(host)) {
    return forbidden(fmt::format("a request for the host '{}', which is not this one", host), host,
                     "ask for http://localhost/, or add the name to `hosts:` in the configuration");
  }
  const std::string site = request.header("sec-fetch-site");
  if (!site.empty() && site != "same-origin" && site != "none") {
    return forbidden("a request of another site's page", site,
                     "open the address in a new tab: what other pages lead to is refused");
  }
  const bool has_origin = request.headers.contains("origin");
  const bool own_origin = has_origin && is_origin_of(request.header("origin"), host);
  // A form that is sent without a referrer says `null`; the browser vouches for it by the other.
  const bool vouched = site == "same-origin" && request.header("origin") == "null";
  if (has_origin && !own_origin && !vouched) {
    return forbidden("a request of a web page of another origin", request.header("origin"),
                     "requests are served to this daemon's own pages and to programs");
  }
  if (request.method == "GET" || request.method == "HEAD") return std::nullopt;
  if (is_json(request.header("content-type")) || request.header("x-trainward") == "1" ||
      own_origin || site == "same-origin" ||
      (request.peer.user.has_value() && !is_of_a_browser(request))) {
    return std::nullopt;
  }
  return forbidden("a request that any web page could have made a browser send", "",
                   "send the header `X-Trainward: 1`");
}

}  // namespace trainward::api
