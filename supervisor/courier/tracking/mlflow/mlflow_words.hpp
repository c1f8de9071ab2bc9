// Names and texts as MLflow takes them. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/base/json/json.hpp"

namespace trainward::tracking {

inline constexpr std::size_t longest_param = 500;  // of the oldest servers

std::string shortened(std::string text, std::size_t most);
// Letters, digits and what else a metric or parameter may be called by.
std::string key_of(std::string_view name);
json::object tag(std::string_view key, std::string value);

}  // namespace trainward::tracking
