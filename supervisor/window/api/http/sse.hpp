// Server-sent events as text. Pure.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/json/json.hpp"
#include "common/base/utf8.hpp"

namespace trainward::api {

// JSON has no line ends but escaped ones, so a message's data is one line.
inline std::string sse(std::string_view event, const json::value& data,
                       std::optional<std::int64_t> id = std::nullopt) {
  return fmt::format("{}event: {}\ndata: {}\n\n", id ? fmt::format("id: {}\n", *id) : "", event,
                     valid_utf8(json::serialize(data)));
}

inline constexpr std::string_view sse_heartbeat = ":\n\n";
inline constexpr std::string_view sse_retry = "retry: 2000\n\n";

}  // namespace trainward::api
