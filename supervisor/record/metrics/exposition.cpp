#include "supervisor/record/metrics/exposition.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "common/base/utf8.hpp"

namespace trainward::metrics {
namespace {

// Beyond it a double cannot represent every whole number.
constexpr double most_whole = 9'007'199'254'740'992.0;

void append_number(std::string& text, double value) {
  if (std::isnan(value)) {
    text += "NaN";
  } else if (std::isinf(value)) {
    text += value > 0 ? "+Inf" : "-Inf";
  } else if (value == std::trunc(value) && std::abs(value) < most_whole) {
    fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}"), static_cast<std::int64_t>(value));
  } else {
    // The shortest text that is read back as exactly this value.
    fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}"), value);
  }
}

bool is_plain(char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; }

void append_escaped(std::string& text, std::string_view value) {
  if (std::ranges::all_of(value, is_plain)) {
    text += value;
    return;
  }
  for (const char c : valid_utf8(std::string(value))) {
    if (c == '\n') {
      text += "\\n";
    } else if (c == '\r') {
      text += ' ';  // there is no escape for it, and lines must not have one
    } else {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
  }
}

}  // namespace

void Exposition::family(Metric metric) {
  const auto place = static_cast<std::size_t>(metric);
  metric_ = metric;
  open_ = !begun_.test(place);
  headed_ = false;
  begun_.set(place);
  const MetricFacts& row = facts(metric);
  std::string before = std::string(row.name) + (row.labels.size > 0 ? "{" : " ");
  std::size_t i = 0;
  for (const std::string_view label : row.labels) {
    between_.at(i++) = before + std::string(label) + "=\"";
    before = "\",";
  }
  between_.at(i) = i > 0 ? "\"} " : before;
}

void Exposition::head() {
  const MetricFacts& row = facts(metric_);
  const bool openmetrics = format_ == Format::openmetrics;
  const std::string_view name = openmetrics ? family_of(row) : row.name;
  const auto out = std::back_inserter(text_);
  fmt::format_to(out, "# TYPE {} {}\n", name, to_string(row.type));
  if (openmetrics && !row.unit.empty()) fmt::format_to(out, "# UNIT {} {}\n", name, row.unit);
  fmt::format_to(out, "# HELP {} {}\n", name, row.help);
  headed_ = true;
}

void Exposition::sample(std::initializer_list<std::string_view> labels, double value) {
  const MetricFacts& row = facts(metric_);
  if (!open_ || labels.size() != row.labels.size) return;
  if (row.type == Type::counter && !(value >= 0)) return;
  if (!headed_) head();
  std::size_t i = 0;
  for (const std::string_view label : labels) {
    text_ += between_.at(i++);
    append_escaped(text_, label);
  }
  text_ += between_.at(i);
  append_number(text_, value);
  text_ += '\n';
}

std::string Exposition::take() && {
  if (format_ == Format::openmetrics) text_ += "# EOF\n";
  return std::move(text_);
}

}  // namespace trainward::metrics
