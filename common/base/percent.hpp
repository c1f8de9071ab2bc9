// Percent-encoded text, of paths, queries and forms. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trainward {

// Nothing when an escape is incomplete, or when the whole is not UTF-8.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace trainward
