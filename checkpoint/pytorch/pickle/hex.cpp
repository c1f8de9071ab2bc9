#include "checkpoint/pytorch/pickle/hex.hpp"

namespace trainward::checkpoint::pytorch {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

}  // namespace

std::string to_hex(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += hex_digits[std::to_integer<unsigned>(byte) >> 4U];
    text += hex_digits[std::to_integer<unsigned>(byte) & 15U];
  }
  return text;
}

std::optional<std::string> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const std::size_t high = hex_digits.find(digits[i]);
    const std::size_t low = hex_digits.find(digits[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace trainward::checkpoint::pytorch
