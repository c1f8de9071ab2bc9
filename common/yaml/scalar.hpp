// The values of YAML scalars: strict, whole, without locale.
//
// Each returns nothing when the text is not entirely a value of its type. Quoted scalars are text
// and never numbers; that check is the caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainward::yaml {

std::optional<std::int64_t> parse_integer(std::string_view text);  // 5, -3; 1_000 is refused
std::optional<double> parse_number(std::string_view text);         // 5, .5, 1.e-8; never nan or inf
// A number that is whole however it is written: 5, 1e6, 2.5e3, 5.0.
std::optional<std::int64_t> parse_whole(std::string_view text);
// true, True, TRUE, false, False, FALSE: the booleans of YAML 1.2.
std::optional<bool> parse_boolean(std::string_view text);

// "200ms", "60s", "10min", "2h", "1.5h", "3d"
std::optional<std::int64_t> parse_duration_ms(std::string_view text);
// The shortest text that parse_duration_ms reads back: "90s", "2h".
std::string duration_text(std::int64_t ms);

// The one grammar of sizes: "64MiB", "1.5 GiB", "16GB". KiB to PiB are powers of two, KB to PB
// powers of ten, also written K, Ki and so on, in any case, behind one space at most; B is bytes.
std::optional<std::int64_t> parse_size_bytes(std::string_view text);
// The shortest text that parse_size_bytes reads back: "64MiB"; "17B" when no unit divides it.
std::string size_text(std::int64_t bytes);

// As a scalar that reads back as this text: plain where that is safe, else in quotes.
std::string text_scalar(std::string_view text);

}  // namespace trainward::yaml
