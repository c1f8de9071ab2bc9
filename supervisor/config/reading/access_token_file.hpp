// A file of tokens: a line each, `NAME TOKEN` or just the token.
//
// Blank lines and lines that begin with # are passed over. A token has 32 to 512 characters of
// those that a header may carry (letters, digits, - . _ ~ + / =), a name at most 31, so that
// neither can be taken for the other. Nothing of a line is ever part of an error: it may be a
// secret in the wrong place.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/config/reading/listening.hpp"

namespace trainward::config {

inline constexpr std::size_t shortest_token = 32;

// Never waits, whatever lies at `path`. Refused: what is no file (kind corrupt, or usage for a
// folder), what anybody but its owner may read or write (permanent, with the chmod to run), a line
// that is invalid (usage, with its number). `without_name` is what a line without a name is called;
// further ones get a number: "operator", "operator-2".
Result<std::vector<Token>> read_tokens(const std::filesystem::path& path, bool operates,
                                       std::string_view without_name);

}  // namespace trainward::config
