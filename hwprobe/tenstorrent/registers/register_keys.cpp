#include "hwprobe/tenstorrent/registers/register_keys.hpp"

#include <fmt/format.h>

#include <charconv>

namespace trainward::hwprobe {

std::string config_key(std::uint32_t offset) { return fmt::format("config {:#x}", offset); }

std::string bar_key(std::uint32_t offset) { return fmt::format("bar {:#x}", offset); }

std::string noc_key(unsigned x, unsigned y, std::uint64_t address) {
  return fmt::format("noc {} {} {:#x}", x, y, address);
}

std::string wait_key(std::chrono::milliseconds time) {
  return fmt::format("wait {}", time.count());
}

std::string word_text(std::uint32_t word) { return fmt::format("{:#x}", word); }

std::optional<std::uint32_t> parse_word(std::string_view text) {
  if (text.size() < 3 || text.substr(0, 2) != "0x") return std::nullopt;
  text.remove_prefix(2);
  std::uint32_t word = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), word, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return word;
}

}  // namespace trainward::hwprobe
