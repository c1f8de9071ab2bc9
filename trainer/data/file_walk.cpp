#include "trainer/data/file_walk.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;

// Follows links, as reading the file would.
void add_if_regular(const fs::path& path, FileList& list) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    list.unread.push_back({path, std::generic_category().message(errno)});
    return;
  }
  if (S_ISREG(info.st_mode)) {
    list.files.push_back(
        {path, {info.st_dev, info.st_ino}, static_cast<std::uint64_t>(info.st_size)});
  }
}

// One folder at a time instead of recursive_directory_iterator: that one ends the whole walk at
// the first folder it may not open.
void walk(const fs::path& root, FileList& list) {
  std::vector<fs::path> pending{root};
  while (!pending.empty()) {
    const fs::path folder = std::move(pending.back());
    pending.pop_back();
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code ignored;
      if (entry->symlink_status(ignored).type() == fs::file_type::directory) {
        pending.push_back(entry->path());
      } else {
        add_if_regular(entry->path(), list);
      }
    }
    if (error) list.unread.push_back({folder, error.message()});
  }
}

void keep_first_of_each(std::vector<FoundFile>& files) {
  std::set<std::pair<dev_t, ino_t>> seen;
  std::erase_if(files, [&](const FoundFile& file) { return !seen.insert(file.identity).second; });
}

}  // namespace

Result<FileList> find_files(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    const int error_number = errno;
    auto failed = fail_errno(error_number, "read the data", path.string());
    if (error_number == ENOENT || error_number == ENOTDIR) failed.value().kind = ErrorKind::usage;
    return failed;
  }
  FileList list;
  if (S_ISDIR(info.st_mode)) {
    walk(path, list);
  } else if (S_ISREG(info.st_mode)) {
    add_if_regular(path, list);
  } else {
    return fail(ErrorKind::usage, "is neither a file nor a folder", path.string());
  }
  const auto by_path = [](const auto& a, const auto& b) {
    return a.path.native() < b.path.native();
  };
  std::sort(list.files.begin(), list.files.end(), by_path);
  std::sort(list.unread.begin(), list.unread.end(), by_path);
  keep_first_of_each(list.files);
  return list;
}

}  // namespace trainward::trainer
