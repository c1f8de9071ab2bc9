// What kind of data each file is.
//
// In: the paths that `data` names and the format that was asked for. Out: their files in order
// (file_walk.hpp), each with its kind. `automatic` goes by the file itself: token files by their
// first bytes, *.jsonl and *.ndjson by name, everything else is text; a *.bin file without our
// header is left out, for its bytes could be anything. Errors: those of find_files.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/data/file_walk.hpp"

namespace trainward::trainer {

enum class DataFormat {
  automatic,
  text,  // every file is one document
  u16,   // every file is token ids, two bytes each, little-endian
  u32,   // the same with four
};

// "auto", "text", "u16", "u32"
std::optional<DataFormat> data_format(std::string_view name);

struct DataFile {
  enum class Kind { text, jsonl, tokens, raw_tokens };
  FoundFile file;
  Kind kind = Kind::text;

  [[nodiscard]] bool tokenized() const { return kind == Kind::tokens || kind == Kind::raw_tokens; }
};

struct DataFiles {
  std::string path;  // as it was named
  std::vector<DataFile> files;
  std::vector<Unread> unread;
};

Result<std::vector<DataFiles>> find_data(std::span<const std::string> paths, DataFormat format);

// Usage or permanent: nothing of `path` can be trained on.
tl::unexpected<Error> nothing_to_read(const std::string& path, const std::vector<Unread>& unread);

}  // namespace trainward::trainer
