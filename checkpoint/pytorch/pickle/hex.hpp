// Bytes as lower-case hexadecimal digits and back.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace trainward::checkpoint::pytorch {

std::string to_hex(std::span<const std::byte> bytes);
// Nothing for an odd length or another character.
std::optional<std::string> from_hex(std::string_view digits);

}  // namespace trainward::checkpoint::pytorch
