// The characters that byte-level vocabularies write bytes as.
//
// Such a vocabulary holds text, not bytes: a byte that is a visible Latin-1 character stands for
// itself, each of the other 68 for a character from U+0100 on, in order. A space is U+0120.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trainward::trainer {

// The bytes that `token` stands for; nothing when it holds another character, or is no UTF-8.
std::optional<std::string> bytes_of_token(std::string_view token);

}  // namespace trainward::trainer
