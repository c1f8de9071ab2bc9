#include "checkpoint/disk/latest.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "checkpoint/format/names.hpp"
#include "common/base/text.hpp"
#include "common/os/file.hpp"

namespace trainward::checkpoint {
namespace {

constexpr std::size_t max_bytes = 4096;

}  // namespace

Status point_latest(const std::filesystem::path& root, std::string_view folder_name) {
  return write_file_durably(root / name::latest, std::string(folder_name) + "\n");
}

std::string read_latest(const std::filesystem::path& root) {
  // Not through a link: what it names would be taken for the word of a trainer.
  auto fd = open_regular(root / name::latest, O_RDONLY | O_NOFOLLOW);
  if (!fd) return {};
  std::string text(max_bytes, '\0');
  auto got = read_at(fd->get(), std::as_writable_bytes(std::span(text)), 0, root / name::latest);
  text.resize(got.value_or(0));
  return std::string(trim(text));
}

std::string latest_problem(const std::filesystem::path& folder) {
  const std::filesystem::path root = folder.parent_path();
  const std::string name = folder.filename().string();
  if (read_latest(root) == name) return {};
  const Status pointed = point_latest(root, name);
  return pointed ? "" : pointed.error().message();
}

void restore_latest(const std::filesystem::path& root, const std::string& folder_name) {
  if (read_latest(root) == folder_name) return;
  if (folder_name.empty()) {
    ::unlink((root / name::latest).c_str());
  } else {
    (void)point_latest(root, folder_name);
  }
}

}  // namespace trainward::checkpoint
