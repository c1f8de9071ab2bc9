#include "checkpoint/disk/latest.hpp"

#include <unistd.h>

#include "checkpoint/format/names.hpp"
#include "common/file.hpp"
#include "common/text.hpp"

namespace trainward::checkpoint {
namespace {

constexpr std::size_t max_bytes = 4096;

}  // namespace

Status point_latest(const std::filesystem::path& root, std::string_view folder_name) {
  return write_file_durably(root / name::latest, std::string(folder_name) + "\n");
}

std::string read_latest(const std::filesystem::path& root) {
  auto text = read_file(root / name::latest, max_bytes);
  return text ? std::string(trim(*text)) : std::string();
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
