// Limits of a process that a program may be given: their names in a configuration and in
// launch.json, and what the kernel calls them. The one table of them.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainward {

struct ResourceKind {
  std::string_view name;
  int resource = 0;    // as setrlimit(2) has it
  bool bytes = false;  // else a count
};

inline constexpr std::array resource_kinds{
    ResourceKind{"open_files", RLIMIT_NOFILE, false},
    ResourceKind{"processes", RLIMIT_NPROC, false},
    ResourceKind{"core", RLIMIT_CORE, true},
    ResourceKind{"memory_locked", RLIMIT_MEMLOCK, true},
    ResourceKind{"address_space", RLIMIT_AS, true},
    ResourceKind{"stack", RLIMIT_STACK, true},
};

inline constexpr std::uint64_t unlimited = RLIM_INFINITY;

struct ResourceLimit {
  std::string name;        // of resource_kinds
  std::uint64_t soft = 0;  // bytes or a count; or `unlimited`
  std::uint64_t hard = 0;  // not below it
  friend bool operator==(const ResourceLimit&, const ResourceLimit&) = default;
};

// nullptr: unknown name.
constexpr const ResourceKind* find_resource(std::string_view name) {
  const auto* const found =
      std::find_if(resource_kinds.begin(), resource_kinds.end(),
                   [&](const ResourceKind& kind) { return kind.name == name; });
  return found == resource_kinds.end() ? nullptr : found;
}

}  // namespace trainward
