// How the reads of RegisterIo are named in a line, and how words look there.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainward::hwprobe {

std::string config_key(std::uint32_t offset);
std::string bar_key(std::uint32_t offset);
std::string noc_key(unsigned x, unsigned y, std::uint64_t address);
std::string wait_key(std::chrono::milliseconds time);
inline constexpr std::string_view driver_key = "driver";

std::string word_text(std::uint32_t word);                       // "0xc0de0001"
std::optional<std::uint32_t> parse_word(std::string_view text);  // that form only

}  // namespace trainward::hwprobe
