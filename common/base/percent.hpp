// Percent-encoded text, of paths, queries and forms. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace trainward {

// Each byte as %XX but letters, digits, -._~ and those of `kept`.
std::string percent_encoded(std::string_view text, std::string_view kept = "");

// Nothing when an escape is incomplete, or when the whole is not UTF-8.
std::optional<std::string> percent_decoded(std::string_view text);

// "name=value&…" by name; the last of several with one name; nothing if any of them is malformed.
std::optional<std::map<std::string, std::string>> percent_decoded_fields(std::string_view text);

}  // namespace trainward
