#include "supervisor/ctl/export_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <variant>

#include "common/base/cases.hpp"
#include "common/base/json/json_text.hpp"
#include "common/base/utf8.hpp"

namespace trainward::ctl {
namespace {

constexpr std::string_view line_end = "\r\n";

// In the fewest digits that mean the same number, without an exponent nobody asked for.
void append_number(std::string& out, double value) {
  fmt::format_to(std::back_inserter(out), "{}", value);
}

}  // namespace

void append_csv_text(std::string& out, std::string_view text) {
  const bool formula =
      !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
  const bool quoted = text.find_first_of(",\"\r\n") != std::string_view::npos;
  if (quoted) out += '"';
  if (formula) out += '\'';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  if (quoted) out += '"';
}

void append_csv_names(std::string& out, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += ',';
    append_csv_text(out, names[i]);
  }
  out += line_end;
}

void append_csv_row(std::string& out, const std::vector<store::Store::Cell>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out += ',';
    std::visit(
        Cases{[](std::monostate) {},
              [&](std::int64_t value) { fmt::format_to(std::back_inserter(out), "{}", value); },
              [&](double value) {
                std::isfinite(value) ? append_number(out, value) : (void)(out += "NaN");
              },
              [&](const std::string& text) { append_csv_text(out, valid_utf8(text)); }},
        cells[i]);
  }
  out += line_end;
}

void append_json_row(std::string& out, const std::vector<std::string>& names,
                     const std::vector<store::Store::Cell>& cells) {
  out += '{';
  const std::size_t count = std::min(names.size(), cells.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    append_json_string(out, names[i]);
    out += ':';
    std::visit(
        Cases{[&](std::monostate) { out += "null"; },
              [&](std::int64_t value) { fmt::format_to(std::back_inserter(out), "{}", value); },
              [&](double value) {
                std::isfinite(value) ? append_number(out, value) : (void)(out += "null");
              },
              [&](const std::string& text) { append_json_string(out, text); }},
        cells[i]);
  }
  out += "}\n";
}

}  // namespace trainward::ctl
