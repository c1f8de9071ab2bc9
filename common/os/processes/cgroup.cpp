#include "common/os/processes/cgroup.hpp"

#include <string_view>
#include <utility>

#include "common/os/processes/cgroup_place.hpp"
#include "common/os/processes/host_files.hpp"
#include "common/os/processes/process_files.hpp"

namespace trainward::host {
namespace {

constexpr std::size_t mountinfo_bytes = 1024 * 1024;  // a machine full of containers
constexpr std::size_t cgroup_bytes = 64 * 1024;
constexpr std::size_t deepest = 64;

Cgroup locate(const std::filesystem::path& root, std::string_view mountinfo, std::string_view names,
              std::string_view controller) {
  auto place = cgroup_place(mountinfo, names, controller);
  if (!place) return {};
  Cgroup cgroup{below(root, place->folder), below(root, place->top), std::move(place->name)};
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
