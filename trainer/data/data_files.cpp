#include "trainer/data/data_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>

#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "trainer/data/row_source.hpp"
#include "trainer/data/text/content.hpp"
#include "trainer/data/token_file.hpp"

namespace trainward::trainer {

namespace {

namespace fs = std::filesystem;

// Follows links, as reading the file would.
void add_if_regular(const fs::path& path, FileList& list) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    list.unread.push_back({path, std::generic_category().message(errno), ""});
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
      if (entry->path().filename().native().starts_with('.')) continue;
      std::error_code ignored;
      if (entry->symlink_status(ignored).type() == fs::file_type::directory) {
        pending.push_back(entry->path());
      } else {
        add_if_regular(entry->path(), list);
      }
    }
    if (error) list.unread.push_back({folder, error.message(), ""});
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

namespace {

// A file that cannot be opened begins with nothing; reading it will say why.
bool begins_with(const fs::path& path, std::string_view beginning) {
  auto fd = open_regular(path, O_RDONLY);
  if (!fd) return false;
  std::string bytes(beginning.size(), '\0');
  const auto got = read_at(fd->get(), std::as_writable_bytes(std::span(bytes)), 0, path);
  return got && *got == bytes.size() && bytes == beginning;
}

// README.md as the hub has it: words about the data, in a folder that was cloned or downloaded.
bool is_card(const fs::path& path) {
  std::error_code ignored;
  return path.filename() == "README.md" && begins_with(path, "---") &&
         fs::exists(path.parent_path() / ".gitattributes", ignored);
}

std::optional<DataFile::Kind> kind_of(const FoundFile& file, DataFormat format) {
  using Kind = DataFile::Kind;
  switch (format) {
    case DataFormat::text:
      return Kind::bytes;
    case DataFormat::u16:
    case DataFormat::u32:
      return Kind::raw_tokens;
    case DataFormat::automatic:
      break;
  }
  if (is_lines_by_name(file.path)) return Kind::jsonl;
  if (begins_with(file.path, token_file_magic)) return Kind::tokens;
  if (unpacked_name(file.path).extension() == ".bin" && file.bytes > 0) return std::nullopt;
  return Kind::text;
}

}  // namespace

std::optional<DataFormat> data_format(std::string_view name) {
  if (name == "auto") return DataFormat::automatic;
  if (name == "text") return DataFormat::text;
  if (name == "u16") return DataFormat::u16;
  if (name == "u32") return DataFormat::u32;
  return std::nullopt;
}

Result<std::vector<DataFiles>> find_data(std::span<const std::string> paths, DataFormat format) {
  std::vector<DataFiles> data;
  for (const std::string& path : paths) {
    auto found = find_files(path);
    if (!found) return propagate(found);
    DataFiles& here = data.emplace_back(DataFiles{path, {}, std::move(found->unread)});
    for (FoundFile& file : found->files) {
      const auto kind = kind_of(file, format);
      if (!kind) {
        here.unread.push_back({file.path, "is a .bin file without our header",
                               "data_format says what is in it: u16, u32 or text", true});
      } else if (*kind == DataFile::Kind::text && file.path != path && is_card(file.path)) {
        here.unread.push_back({file.path, "is the card of a data set, not its data", "", true});
      } else {
        here.files.push_back({std::move(file), *kind});
      }
    }
  }
  return data;
}

tl::unexpected<Error> nothing_to_read(const std::string& path, const std::vector<Unread>& unread) {
  if (unread.empty()) {
    return fail(ErrorKind::usage, "holds no text to train on", path,
                "data needs files that are not empty");
  }
  const bool for_good = std::ranges::all_of(unread, &Unread::for_good);
  const auto helped =
      std::ranges::find_if(unread, [](const Unread& of) { return !of.hint.empty(); });
  const Unread& told = helped == unread.end() ? unread.front() : *helped;
  if (unread.size() == 1 && told.path == path) {
    return fail(for_good ? ErrorKind::usage : ErrorKind::permanent, told.reason, path, told.hint);
  }
  std::string hint = told.hint;
  if (hint.empty()) {
    hint = for_good ? "repair the files, or name others"
                    : "give this user read permission, or repair the files";
  }
  return fail(for_good ? ErrorKind::usage : ErrorKind::permanent,
              fmt::format("nothing here could be read; {} failed, such as {}: {}",
                          count(static_cast<std::int64_t>(unread.size()), "file"),
                          told.path.string(), told.reason),
              path, std::move(hint));
}

}  // namespace trainward::trainer
