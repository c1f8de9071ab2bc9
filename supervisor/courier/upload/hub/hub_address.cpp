#include "supervisor/courier/upload/hub/hub_address.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <ctime>

#include "common/base/number_in.hpp"
#include "common/base/percent.hpp"
#include "common/base/text.hpp"

namespace trainward::upload::hub {
namespace {

constexpr std::size_t longest_repository_name = 96;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// "https://host:port" of an address; empty: it is not an address.
std::string_view origin_of(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  return url.substr(0, url.find_first_of("/?#", scheme + 3));
}

// Without a port that goes without saying, in lower case.
std::string plain_origin(std::string_view url) {
  std::string origin = lower_case(origin_of(url));
  const auto drop = [&](std::string_view scheme, std::string_view port) {
    if (origin.starts_with(scheme) && origin.ends_with(port)) {
      origin.resize(origin.size() - port.size());
    }
  };
  drop("https://", ":443");
  drop("http://", ":80");
  return origin;
}

bool is_plain_address(std::string_view text) {
  const std::string_view origin = origin_of(text);
  const bool http = origin.starts_with("https://") || origin.starts_with("http://");
  return http && origin.size() > origin.find("://") + 3 &&
         origin.find('@') == std::string_view::npos &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

// The value of a query's member, as it stands.
std::optional<std::string_view> query_value(std::string_view url, std::string_view name) {
  const auto question = url.find('?');
  if (question == std::string_view::npos) return std::nullopt;
  std::string_view rest = url.substr(question + 1);
  while (!rest.empty()) {
    const auto end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=') {
      return pair.substr(name.size() + 1);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

std::optional<std::int64_t> digits(std::string_view text) {
  const auto value = number_in<std::int64_t>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

// "20261123T201530Z"
std::optional<std::int64_t> amazon_time_ms(std::string_view text) {
  std::tm parts{};
  const std::string whole(text);
  const char* end = ::strptime(whole.c_str(), "%Y%m%dT%H%M%SZ", &parts);
  if (end == nullptr || *end != '\0' || whole.size() != 16) return std::nullopt;
  return std::int64_t{::timegm(&parts)} * 1000;
}

}  // namespace

Result<std::string> checked_endpoint(std::string_view text) {
  std::string_view address = trim(text);
  while (address.ends_with('/')) address.remove_suffix(1);
  if (is_plain_address(address) && address.find_first_of("?#") == std::string_view::npos) {
    return std::string(address);
  }
  return fail(ErrorKind::usage, "is no address of a Hub", clean(text),
              "write it as https://hub.example, without user, query or fragment");
}

bool is_repository_name(std::string_view name) {
  if (name.empty() || name.size() > longest_repository_name) return false;
  const auto slash = name.find('/');
  const auto is_part = [](std::string_view part) {
    const auto is_edge = [](char c) { return c == '-' || c == '.'; };
    return !part.empty() && !is_edge(part.front()) && !is_edge(part.back()) &&
           part.find("--") == std::string_view::npos && part.find("..") == std::string_view::npos &&
           !part.ends_with(".git") && std::all_of(part.begin(), part.end(), [](char c) {
             return is_word(c) || c == '-' || c == '_' || c == '.';
           });
  };
  if (slash == std::string_view::npos) return is_part(name);
  return is_part(name.substr(0, slash)) && is_part(name.substr(slash + 1));
}

std::string api_url(const Repository& at, std::string_view rest) {
  return fmt::format("{}/api/models/{}{}", at.endpoint, at.id, rest);
}

std::string batch_url(const Repository& at) {
  return fmt::format("{}/{}.git/info/lfs/objects/batch", at.endpoint, at.id);
}

std::string resolve_url(const Repository& at, std::string_view revision, std::string_view path) {
  return fmt::format("{}/{}/resolve/{}/{}", at.endpoint, at.id, percent_encoded(revision),
                     percent_encoded(path, "/"));
}

std::string shown_commit(const Repository& at, std::string_view commit) {
  return fmt::format("{}/{}/commit/{}", at.endpoint, at.id, commit);
}

std::string shown_tree(const Repository& at, std::string_view revision) {
  return fmt::format("{}/{}/tree/{}", at.endpoint, at.id, percent_encoded(revision));
}

bool same_origin(std::string_view a, std::string_view b) {
  const std::string origin = plain_origin(a);
  return !origin.empty() && origin == plain_origin(b);
}

Result<std::string> followed(const std::string& href, const std::string& endpoint) {
  if (!is_plain_address(href) ||
      (!href.starts_with("https://") && !endpoint.starts_with("http://"))) {
    return fail(ErrorKind::permanent, "the address of a file is malformed or not https", endpoint,
                "the server's answer was not understood: is it a Hugging Face Hub?");
  }
  if (same_origin(href, usual_endpoint) && !same_origin(endpoint, usual_endpoint)) {
    return endpoint + href.substr(origin_of(href).size());
  }
  return href;
}

std::optional<std::int64_t> good_until_ms(std::string_view url) {
  const auto from = query_value(url, "X-Amz-Date");
  const auto seconds = query_value(url, "X-Amz-Expires");
  if (!from || !seconds) return std::nullopt;
  const auto begin = amazon_time_ms(*from);
  const auto length = digits(*seconds);
  if (!begin || !length) return std::nullopt;
  return *begin + *length * 1000;
}

}  // namespace trainward::upload::hub
