#include "common/os/processes/cgroup_place.hpp"

#include <algorithm>

namespace trainward {
namespace {

// The next piece of `text` up to `separator`, which is taken off as well.
std::string_view take_piece(std::string_view& text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const std::string_view piece = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return piece;
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    if (take_piece(list, ',') == word) return true;
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
  std::string inside;  // which folder of the tree is mounted
  std::string point;   // where
};

// "31 23 0:28 /inside /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw"; nothing for the
// mount of anything else.
std::optional<Mount> parse_mount(std::string_view line, std::string_view controller) {
  const auto dash = line.find(" - ");
  if (dash == std::string_view::npos) return std::nullopt;
  std::string_view after = line.substr(dash + 3);
  for (int skipped = 0; skipped < 3; ++skipped) take_piece(line, ' ');
  Mount mount;
  mount.inside = unescape(take_piece(line, ' '));
  mount.point = unescape(take_piece(line, ' '));
  const std::string_view type = take_piece(after, ' ');
  take_piece(after, ' ');
  const bool wanted =
      controller.empty() ? type == "cgroup2" : type == "cgroup" && has_word(after, controller);
  if (!wanted || !mount.inside.starts_with('/') || !mount.point.starts_with('/')) {
    return std::nullopt;
  }
  return mount;
}

// Line of /proc/PID/cgroup: "4:cpu,cpuacct:/name"; version 2 is "0::/name".
std::string_view find_name(std::string_view names, std::string_view controller) {
  while (!names.empty()) {
    const std::string_view line = take_piece(names, '\n');
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

}  // namespace

std::optional<CgroupPlace> cgroup_place(std::string_view mountinfo, std::string_view names,
                                        std::string_view controller) {
  const std::string_view name = find_name(names, controller);
  // A name that climbs out belongs to another cgroup namespace than the mount.
  if (!name.starts_with('/') || name.find("/..") != std::string_view::npos) return std::nullopt;
  while (!mountinfo.empty()) {
    const auto mount = parse_mount(take_piece(mountinfo, '\n'), controller);
    if (!mount) continue;
    std::string_view way = name;
    if (mount->inside != "/") {
      if (!way.starts_with(mount->inside)) continue;
      way.remove_prefix(mount->inside.size());
      if (!way.empty() && way.front() != '/') continue;
    }
    while (way.ends_with('/')) way.remove_suffix(1);
    return CgroupPlace{mount->point, mount->point + std::string(way), std::string(name)};
  }
  return std::nullopt;
}

}  // namespace trainward
