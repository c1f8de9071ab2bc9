#include "trainer/stablehlo/text/literal.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "common/base/bf16.hpp"
#include "common/base/number_in.hpp"

namespace trainward::stablehlo {
namespace {

using graph::Element;

// Through f32, as everywhere else.
float rounded(double value, Element element) {
  const auto single = static_cast<float>(value);
  return element == Element::bf16 ? float_from_bf16(bf16_from_float(single)) : single;
}

std::string bits_of(float value, Element element) {
  const std::uint32_t bits =
      std::isnan(value) ? 0x7FC00000U : __builtin_bit_cast(std::uint32_t, value);
  if (element == Element::bf16) return fmt::format("0x{:04X}", bits >> 16U);
  return fmt::format("0x{:08X}", bits);
}

// "1.0", "-2.5e-7": always with a point, or MLIR takes it for a whole number.
std::string decimal(float value) {
  std::string text = fmt::format("{}", value);
  if (text.find('.') != std::string::npos) return text;
  const std::size_t exponent = text.find('e');
  text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
  return text;
}

std::int32_t whole(double value) {
  if (!(std::abs(value) < 0x1p62)) return 0;
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(value)));
}

std::optional<double> read_bits(std::string_view digits, Element element) {
  const bool narrow = element == Element::bf16;
  if (digits.size() != (narrow ? 4U : 8U)) return std::nullopt;
  const auto bits = number_in<std::uint32_t>(digits, 16);
  if (!bits) return std::nullopt;
  const auto value = __builtin_bit_cast(float, narrow ? *bits << 16U : *bits);
  if (std::isnan(value)) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(value);
}

std::optional<double> read_real(std::string_view text, Element element) {
  if (text.starts_with("0x")) return read_bits(text.substr(2), element);
  if (text.find('.') == std::string_view::npos) return std::nullopt;
  const auto value = number_in<double>(text);
  if (!value || std::isinf(rounded(*value, element))) return std::nullopt;
  return static_cast<double>(rounded(*value, element));
}

}  // namespace

std::string_view element_name(Element element) {
  return element == Element::pred ? "i1" : graph::to_string(element);
}

std::string_view comparison_of(Element element) {
  switch (element) {
    case Element::f32:
    case Element::bf16:
      return "FLOAT";
    case Element::i32:
      return "SIGNED";
    case Element::pred:
      return "UNSIGNED";
  }
  return "?";
}

std::string literal(double value, Element element) {
  if (element == Element::pred) return value != 0 ? "true" : "false";
  if (element == Element::i32) return fmt::format("{}", whole(value));
  const float real = rounded(value, element);
  if (!std::isfinite(real)) return bits_of(real, element);
  std::string text = decimal(real);
  // MLIR reads a double and rounds that: where the two roundings differ, only the bits are exact.
  const auto again = read_real(text, element);
  return again == static_cast<double>(real) ? text : bits_of(real, element);
}

std::optional<double> read_literal(std::string_view text, Element element) {
  switch (element) {
    case Element::pred:
      if (text == "true") return 1;
      if (text == "false") return 0;
      return std::nullopt;
    case Element::i32:
      if (const auto value = number_in<std::int32_t>(text)) return *value;
      return std::nullopt;
    case Element::f32:
    case Element::bf16:
      return read_real(text, element);
  }
  return std::nullopt;
}

}  // namespace trainward::stablehlo
