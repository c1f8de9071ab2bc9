// How the lines of each format are read; its row is in formats.cpp.
#pragma once

#include <optional>
#include <string_view>

#include "supervisor/evidence/foreign/formats/format_reading.hpp"

namespace trainward::foreign::readers {

std::optional<Reading> huggingface(std::string_view line);
std::optional<Reading> lightning(std::string_view line);
std::optional<Reading> keras(std::string_view line);
std::optional<Reading> nanogpt(std::string_view line);
std::optional<Reading> megatron(std::string_view line);
std::optional<Reading> torchtitan(std::string_view line);
std::optional<Reading> torchtune(std::string_view line);
std::optional<Reading> deepspeed(std::string_view line);
std::optional<Reading> clu(std::string_view line);
std::optional<Reading> with_step(std::string_view line);
std::optional<Reading> plain(std::string_view line);
std::optional<Reading> tqdm(std::string_view line);
std::optional<Reading> epochs(std::string_view line);

}  // namespace trainward::foreign::readers
