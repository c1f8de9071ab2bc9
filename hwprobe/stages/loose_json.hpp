// Values of JSON that other people's programs write: a number may be a number, text, padded or
// hexadecimal; a key may be missing, null, "N/A", of another type, or renamed in the next version.
//
// Each getter takes the names a key has had, newest first, and returns the first value found, or
// nothing. No value is an error. Text is cut to 128 bytes, made safe for a
// terminal, and trimmed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/json/json.hpp"

namespace trainward::hwprobe::loose {

using Names = std::initializer_list<std::string_view>;

// The object under `key`; an empty one if absent.
const json::object& object(const json::object& in, std::string_view key);

std::string text(const json::object& in, Names names);
std::optional<double> number(const json::object& in, Names names);        // finite
std::optional<std::uint64_t> whole(const json::object& in, Names names);  // 12, "12", "0x0c"
std::optional<bool> flag(const json::object& in, Names names);            // true, "true"

// Text from elsewhere as the getters above give it. Not UTF-8: up to where it still was.
std::string tidy(std::string_view text);
// "34 C", " 16.0", "16x": the number a text begins with.
std::optional<double> leading_number(std::string_view text);
// The whole text as a number: decimal, or hexadecimal after "0x".
std::optional<std::uint64_t> whole_number(std::string_view text);

}  // namespace trainward::hwprobe::loose
