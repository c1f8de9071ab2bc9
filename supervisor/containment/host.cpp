#include "supervisor/containment/host.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "supervisor/containment/proc.hpp"

namespace trainward::containment {
namespace {

// The next piece of `text` up to `separator`, which is taken off as well.
std::string_view next(std::string_view& text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const std::string_view piece = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return piece;
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    if (next(list, ',') == word) return true;
  }
  return false;
}

// mountinfo writes space, tab, newline and backslash as octal.
std::string unescape(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    if (text.size() >= 4 && text.front() == '\\') {
      plain += static_cast<char>((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0'));
      text.remove_prefix(4);
    } else {
      plain += text.front();
      text.remove_prefix(1);
    }
  }
  return plain;
}

struct Mount {
  std::string root;
  std::string point;
  std::string_view type;
  std::string_view options;  // of the file system: the controllers of version 1
};

// "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw"
std::optional<Mount> parse_mount(std::string_view line) {
  const auto dash = line.find(" - ");
  if (dash == std::string_view::npos) return std::nullopt;
  std::string_view after = line.substr(dash + 3);
  Mount mount;
  for (int skipped = 0; skipped < 3; ++skipped) next(line, ' ');
  mount.root = unescape(next(line, ' '));
  mount.point = unescape(next(line, ' '));
  mount.type = next(after, ' ');
  next(after, ' ');
  mount.options = after;
  return mount;
}

// This process's path in one hierarchy; "" is version 2.
std::string own_path(std::string_view cgroup, std::string_view controller) {
  while (!cgroup.empty()) {
    std::string_view line = next(cgroup, '\n');
    const std::string_view id = next(line, ':');
    const std::string_view controllers = next(line, ':');
    const bool found =
        controller.empty() ? id == "0" && controllers.empty() : has_word(controllers, controller);
    if (found) return std::string(line);
  }
  return {};
}

std::filesystem::path folder(const Mount& mount, std::string path) {
  // A path that climbs out belongs to another cgroup namespace than the mount.
  if (path.empty() || path.find("/..") != std::string::npos) return {};
  if (mount.root != "/") {
    if (!path.starts_with(mount.root)) return {};
    path.erase(0, mount.root.size());
  }
  while (path.ends_with('/')) path.pop_back();
  std::filesystem::path own = mount.point + path;
  return own.filename() == supervisor_leaf ? own.parent_path() : own;
}

}  // namespace

CgroupHost parse_host(std::string_view mountinfo, std::string_view cgroup) {
  CgroupHost host;
  while (!mountinfo.empty()) {
    const auto mount = parse_mount(next(mountinfo, '\n'));
    if (!mount) continue;
    if (mount->type == "cgroup2" && host.unified.empty()) {
      host.unified = folder(*mount, own_path(cgroup, ""));
    }
    if (mount->type != "cgroup") continue;
    const std::array<std::pair<std::string_view, std::filesystem::path*>, 3> wanted{
        {{"name=systemd", &host.systemd}, {"freezer", &host.freezer}, {"memory", &host.memory}}};
    for (const auto& [controller, place] : wanted) {
      if (has_word(mount->options, controller) && place->empty()) {
        *place = folder(*mount, own_path(cgroup, controller));
      }
    }
  }
  return host;
}

CgroupHost this_host() {
  return parse_host(read_proc("/proc/self/mountinfo"), read_proc("/proc/self/cgroup"));
}

CgroupHost restrict_to(CgroupHost host, std::string_view allowed) {
  if (allowed == "none") return {};
  if (allowed == "cgroup1") host.unified.clear();
  if (allowed == "cgroup2") host.systemd = host.freezer = host.memory = "";
  return host;
}

}  // namespace trainward::containment
