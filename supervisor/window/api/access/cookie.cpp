#include "supervisor/window/api/access/cookie.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "common/base/text.hpp"
#include "supervisor/window/api/access/logins.hpp"
#include "supervisor/window/api/http/guard.hpp"

namespace trainward::api {
namespace {

constexpr std::string_view plain_name = "trainward_session";
constexpr std::string_view protected_name = "__Host-trainward_session";
constexpr std::size_t most_ids = 8;

bool is_id(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string_view name_for(bool behind_tls) { return behind_tls ? protected_name : plain_name; }

}  // namespace

std::vector<std::string> session_ids(const Request& request) {
  std::vector<std::string> ids;
  const std::string header = request.header("cookie");
  std::string_view rest = header;
  while (!rest.empty() && ids.size() < most_ids) {
    const auto end = std::min(rest.find(';'), rest.size());
    const std::string_view pair = trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto equals = pair.find('=');
    if (equals == std::string_view::npos || !is_id(pair.substr(equals + 1))) continue;
    const std::string_view name = pair.substr(0, equals);
    if (name == protected_name) ids.emplace(ids.begin(), pair.substr(equals + 1));
    if (name == plain_name) ids.emplace_back(pair.substr(equals + 1));
  }
  return ids;
}

bool is_behind_tls(const Request& request) {
  if (lower_case(request.header("origin")).starts_with("https://")) return true;
  return !Guard{}.names_this_machine(request.header("host")) &&
         !request.header("sec-fetch-site").empty();
}

std::string session_cookie(const std::string& id, bool behind_tls) {
  return fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{}", name_for(behind_tls),
                     id, Logins::lifetime_ms / 1000, behind_tls ? "; Secure" : "");
}

std::string ended_cookie(bool behind_tls) {
  return fmt::format("{}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict{}", name_for(behind_tls),
                     behind_tls ? "; Secure" : "");
}

}  // namespace trainward::api
