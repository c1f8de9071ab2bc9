// The two forms that metrics are asked for in, and which of them a request wants. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainward::metrics {

// Prometheus' text format 0.0.4, and OpenMetrics 1.0.
enum class Format : std::uint8_t { text, openmetrics };

std::string_view content_type(Format format);

// By the value of an Accept header (RFC 9110): the one it ranks higher; OpenMetrics only where it
// is named. Text where it says nothing, nothing that can be understood, or allows neither: a
// scraper that can read this can read text.
Format wanted_format(std::string_view accept);

}  // namespace trainward::metrics
