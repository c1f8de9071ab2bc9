#include "common/host/cgroup.hpp"

#include <optional>
#include <string_view>

#include "common/host/host_files.hpp"
#include "common/host/process_files.hpp"

namespace trainward::host {
namespace {

constexpr std::size_t mountinfo_bytes = 1024 * 1024;  // a machine full of containers
constexpr std::size_t cgroup_bytes = 64 * 1024;
constexpr std::size_t deepest = 64;

// A word of a comma-separated list.
bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return false;
}

struct Mount {
  std::string_view inside;  // which folder of the cgroup tree is mounted
  std::string_view point;   // where
};

// Line of mountinfo: "41 23 0:38 /inside /sys/fs/cgroup rw - cgroup2 cgroup2 rw,memory".
std::optional<Mount> find_mount(std::string_view mountinfo, std::string_view controller) {
  while (!mountinfo.empty()) {
    std::string_view line = take_line(mountinfo);
    for (int skipped = 0; skipped < 3; ++skipped) take_word(line);
    const std::string_view inside = take_word(line);
    const std::string_view point = take_word(line);
    const auto dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    line.remove_prefix(dash + 3);
    const std::string_view type = take_word(line);
    take_word(line);
    const std::string_view options = take_word(line);
    const bool fits =
        controller.empty() ? type == "cgroup2" : type == "cgroup" && has_word(options, controller);
    if (fits && inside.starts_with('/') && point.starts_with('/')) return Mount{inside, point};
  }
  return std::nullopt;
}

// Line of /proc/PID/cgroup: "4:cpu,cpuacct:/name"; version 2 is "0::/name".
std::string_view find_name(std::string_view text, std::string_view controller) {
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? controllers.empty() : has_word(controllers, controller)) {
      return line.substr(second + 1);
    }
  }
  return {};
}

Cgroup locate(const std::filesystem::path& root, std::string_view mountinfo, std::string_view names,
              std::string_view controller) {
  const std::string_view name = find_name(names, controller);
  const auto mount = find_mount(mountinfo, controller);
  // "/../…" is a cgroup outside of what this container may see.
  if (!mount || !name.starts_with('/') || name.find("/..") != std::string_view::npos) return {};
  std::string_view way = name;
  if (mount->inside != "/" && way.starts_with(mount->inside)) {
    way.remove_prefix(mount->inside.size());
  }
  Cgroup cgroup;
  cgroup.name = name;
  cgroup.top = below(root, std::filesystem::path(mount->point));
  cgroup.folder = way.empty() || way == "/" ? cgroup.top : below(cgroup.top, way);
  std::error_code error;
  if (!std::filesystem::is_directory(cgroup.folder, error)) return {};
  return cgroup;
}

}  // namespace

Cgroups cgroups_of(const std::filesystem::path& root, pid_t pid) {
  const auto names = read_some(process_folder(root, pid) / "cgroup", cgroup_bytes);
  const auto mountinfo = read_some(below(root, "/proc/self/mountinfo"), mountinfo_bytes);
  if (!names || !mountinfo) return {};
  return {locate(root, *mountinfo, *names, ""), locate(root, *mountinfo, *names, "memory"),
          locate(root, *mountinfo, *names, "cpuacct")};
}

std::vector<std::filesystem::path> chain_of(const Cgroup& cgroup) {
  std::vector<std::filesystem::path> chain;
  if (cgroup.folder.empty()) return chain;
  for (auto folder = cgroup.folder; chain.size() < deepest; folder = folder.parent_path()) {
    chain.push_back(folder);
    if (folder == cgroup.top || folder == folder.parent_path()) break;
  }
  return chain;
}

}  // namespace trainward::host
