#include "supervisor/rules/rule.hpp"

#include <array>

namespace trainward::rules {

std::string_view to_string(Transient transient) {
  switch (transient) {
    case Transient::yes:
      return "yes";
    case Transient::maybe:
      return "maybe";
    case Transient::no:
      return "no";
  }
  return "maybe";
}

std::span<const std::string_view> crash_classes() {
  static constexpr std::array<std::string_view, 15> words{
      "benign",      "disk",    "firmware",      "device_busy", "ethernet",
      "device_lost", "hang",    "cache_corrupt", "device_oom",  "host_oom",
      "config",      "network", "data",          "nan",         "unknown"};
  return words;
}

std::span<const std::string_view> remedies() {
  static constexpr std::array<std::string_view, 15> words{
      "none",        "retry",          "back_off",         "reset_board",
      "power_cycle", "purge_cache",    "recompile",        "shrink_plan",
      "free_space",  "release_device", "older_checkpoint", "fetch_again",
      "fix_program", "operator",       "replace_host"};
  return words;
}

}  // namespace trainward::rules
