// Reading the kernel's small files below a root folder: "/" on a host, a fake tree in tests.
//
// Everything read here may be absent, forbidden, garbage or endless: all of that is an empty
// optional or a shorter list, never an error. No call waits (a FIFO in a fake tree is not waited
// for) and none reads more than it was told to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::host {

// `path` is absolute on the host: "/proc/pressure/memory".
inline std::filesystem::path below(const std::filesystem::path& root,
                                   const std::filesystem::path& path) {
  return root / path.relative_path();
}

// The first max_bytes at most, however long the file; nothing when it cannot be opened or read.
std::optional<std::string> read_some(const std::filesystem::path& file, std::size_t max_bytes);

// A whole decimal number, as these files hold them. One too large for 63 bits is the largest that
// fits: limits are written that way. A sign, a word or anything behind the digits is nothing.
std::optional<std::int64_t> whole_number(std::string_view text);
std::optional<std::int64_t> read_whole_number(const std::filesystem::path& file);

// The number behind the word `key` in lines of "key 123" or "key: 123 kB", without the unit.
std::optional<std::int64_t> number_of_key(std::string_view text, std::string_view key);

// The next word of `text`, which is shortened by it; empty at the end.
std::string_view take_word(std::string_view& text);
// The next line, without its end.
std::string_view take_line(std::string_view& text);

// Whole numbers above zero between white space: processes, as the kernel lists them.
std::vector<pid_t> processes_in(std::string_view text);

// Whether `word` is among the words of a list.
bool has_word(std::string_view list, std::string_view word);

// Entries of a folder whose names are numbers above zero (processes, threads), in rising order; the
// first `most` that the kernel lists.
std::vector<pid_t> numbers_in(const std::filesystem::path& folder, std::size_t most);

// a + b for amounts that are never negative; the largest number instead of an overflow.
std::int64_t add_up(std::int64_t a, std::int64_t b);

// Fit for a terminal and a JSON file: bytes outside printable ASCII become '?', and what is beyond
// max_bytes is cut off.
std::string printable(std::string_view text, std::size_t max_bytes);

}  // namespace trainward::host
