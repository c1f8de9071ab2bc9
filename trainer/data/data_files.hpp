// Which files make up a corpus, and what kind of data each is.
//
// In: the paths that `data` names and the format that was asked for. Out: their files in order,
// each with its kind. `automatic` goes by the file itself: token files by their first bytes,
// *.jsonl and *.ndjson by name, packed or not, everything else is text; a *.bin file without our
// header is left out, since its bytes could be anything, and so is the card of a data set. Errors:
// usage, when a path is not there or is neither file nor folder; permanent, when it may not be
// read. What cannot be looked at below it is listed in `unread` and is no error.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::trainer {

struct Unread {
  std::filesystem::path path;
  std::string reason;
  std::string hint;       // what makes it readable; may be empty
  bool for_good = false;  // its content is the reason: reading it again finds the same
};

struct FoundFile {
  std::filesystem::path path;
  std::pair<dev_t, ino_t> identity;
  std::uint64_t bytes = 0;  // when it was found; it may have grown since
};

struct FileList {
  std::vector<FoundFile> files;
  std::vector<Unread> unread;
};

// The regular files of a file or a folder, sorted by path (byte order), folders searched
// recursively but for what is hidden (.git, .cache, .gitattributes, as downloads leave them beside
// the data). A symbolic link to a regular file counts as that file; a link to a folder is not
// followed, so a walk always ends. The same file met twice (by link or hard link: equal device and
// inode) counts once, under the first path. Sockets, pipes and devices are passed over.
Result<FileList> find_files(const std::filesystem::path& path);

enum class DataFormat {
  automatic,
  text,  // every file is one document, whatever its bytes
  u16,   // every file is token ids, two bytes each, little-endian
  u32,   // the same with four
};

// "auto", "text", "u16", "u32"
std::optional<DataFormat> data_format(std::string_view name);

struct DataFile {
  enum class Kind { text, bytes, jsonl, tokens, raw_tokens };  // bytes: text, whatever they are
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
