#include "common/protocol/figure.hpp"

#include <fmt/format.h>

#include "common/base/text.hpp"

namespace trainward {

bool can_be(FigureUnit unit, double value) {
  const double least = unit == FigureUnit::plain ? -max_measure : 0;
  return value >= least && value <= most_of(unit);
}

std::string message_key(std::string_view name) {
  std::string key;
  for (const char c : name) key += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return key;
}

std::string message_text(FigureUnit unit, double value) {
  switch (unit) {
    case FigureUnit::plain:
      return fmt::format("{}", value);
    case FigureUnit::tokens_per_second:
      return fmt::format("{:.1f}", value);
    case FigureUnit::share:
      return fmt::format("{:.4f}", value);
    case FigureUnit::ms:
      return fmt::format("{:.3f}", value);
    case FigureUnit::tokens:
    case FigureUnit::bytes:
      return fmt::format("{:.0f}", value);
  }
  return {};
}

std::string unit_text(FigureUnit unit, double value) {
  switch (unit) {
    case FigureUnit::plain:
      return number_text(value);
    case FigureUnit::tokens:
    case FigureUnit::tokens_per_second:
      return fmt::format("{:.0f}", value);
    case FigureUnit::share:
      return fmt::format("{:.1f} %", 100 * value);
    case FigureUnit::bytes:
      return human_bytes(static_cast<std::uint64_t>(value));
    case FigureUnit::ms:
      return fmt::format("{:.{}f} ms", value, value < 10 ? 1 : 0);
  }
  return {};
}

}  // namespace trainward
