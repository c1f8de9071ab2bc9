#include "supervisor/api/access/form.hpp"

#include <algorithm>
#include <utility>

#include "common/base/percent.hpp"

namespace trainward::api {
namespace {

std::optional<std::string> decoded(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return percent_decoded(spaced);
}

}  // namespace

std::optional<std::map<std::string, std::string>> form_fields(std::string_view body) {
  std::map<std::string, std::string> fields;
  while (!body.empty()) {
    const auto end = std::min(body.find('&'), body.size());
    const std::string_view pair = body.substr(0, end);
    body.remove_prefix(std::min(end + 1, body.size()));
    const auto equals = std::min(pair.find('='), pair.size());
    auto name = decoded(pair.substr(0, equals));
    auto value = decoded(pair.substr(std::min(equals + 1, pair.size())));
    if (!name || !value) return std::nullopt;
    fields[std::move(*name)] = std::move(*value);
  }
  return fields;
}

}  // namespace trainward::api
