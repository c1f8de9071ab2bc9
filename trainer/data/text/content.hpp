// What a data file is by its first bytes: text, packed text, or something else that has a name.
//
// In: the first bytes of a file, at most content_head_bytes of them, and its path for the commands
// shown. Out: how it is packed; why it is no text, with the command that makes text of it. Bytes
// that look like nothing known count as text unless many of them are control characters: old text
// in any encoding is text. Pure.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::trainer {

inline constexpr std::size_t content_head_bytes = std::size_t{64} << 10U;

enum class Packing { none, gzip, zstd };
Packing packing_of(std::string_view head);

// "a.jsonl" of a.jsonl.gz and a.jsonl.zst; every other path as it is.
std::filesystem::path unpacked_name(const std::filesystem::path& path);

struct NoText {
  std::string what;  // "is a Parquet file, not text"
  std::string hint;
  // It is what data sets are kept in, so that training on its neighbours alone would be a mistake.
  bool data = false;
};
// Usage where it is such data, else corrupt.
tl::unexpected<Error> refused(const NoText& no, const std::filesystem::path& path);
std::optional<NoText> why_no_text(std::string_view head, const std::filesystem::path& path);

// The same of text that is to hold a row of JSON a line.
std::optional<NoText> why_no_rows(std::string_view head, const std::filesystem::path& path);

}  // namespace trainward::trainer
