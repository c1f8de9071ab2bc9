// Which files make up a corpus.
//
// In: a file or a folder. Out: its regular files, sorted by path (byte order), folders searched
// recursively. A symbolic link to a regular file counts as that file; a link to a folder is not
// followed, so a walk always ends. The same file met twice (by link or hard link: equal device and
// inode) counts once, under the first path. Sockets, pipes and devices are passed over.
// Errors: usage, when the path is not there or is neither file nor folder; permanent, when it may
// not be read. What cannot be looked at below it is listed in `unread` and is no error.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::trainer {

struct Unread {
  std::filesystem::path path;
  std::string reason;
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

Result<FileList> find_files(const std::filesystem::path& path);

}  // namespace trainward::trainer
