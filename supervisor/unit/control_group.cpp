#include "supervisor/unit/control_group.hpp"

#include <fcntl.h>

#include <filesystem>
#include <sstream>

#include "common/os/file.hpp"

namespace trainward::unit {
namespace {

constexpr std::size_t max_bytes = 1 << 20;
constexpr std::string_view prefix = "attempt-";

// This process's folder in the v2 hierarchy, which hosts with both versions mount beside v1.
Result<std::filesystem::path> own_folder() {
  auto text = read_file("/proc/self/cgroup", max_bytes);
  if (!text) return propagate(text);
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("0::/")) continue;
    for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
      const std::filesystem::path root(mount);
      std::error_code error;
      if (std::filesystem::exists(root / "cgroup.procs", error)) return root / line.substr(4);
    }
  }
  return fail(ErrorKind::permanent, "there is no cgroup v2 here", "/proc/self/cgroup");
}

}  // namespace

Status enter_own_group(const std::string& name) {
  auto folder = own_folder();
  if (!folder) return propagate(folder);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(*folder, error)) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    std::error_code in_use;
    std::filesystem::remove(entry.path(), in_use);
  }
  const auto group = *folder / (std::string(prefix) + name);
  if (auto made = make_folders(group); !made) return made;
  auto processes = open_regular(group / "cgroup.procs", O_WRONLY);
  if (!processes) return propagate(processes);
  return write_all(processes->get(), "0", group);
}

}  // namespace trainward::unit
