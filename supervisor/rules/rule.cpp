#include "supervisor/rules/rule.hpp"

#include <array>

namespace trainward::rules {
namespace {

constexpr std::array<std::string_view, 19> class_words{
    "benign",        "disk",       "firmware", "device_busy", "ethernet", "device_lost", "hang",
    "cache_corrupt", "device_oom", "host_oom", "config",      "network",  "data",        "nan",
    "unknown",       "finished",   "progress", "advice",      "mask"};
constexpr std::size_t crash_class_count = 15;

}  // namespace

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

std::string_view to_string(Strength strength) {
  switch (strength) {
    case Strength::cause:
      return "cause";
    case Strength::symptom:
      return "symptom";
    case Strength::cascade:
      return "cascade";
    case Strength::hint:
      return "hint";
  }
  return "hint";
}

std::span<const std::string_view> crash_classes() {
  return std::span(class_words).first<crash_class_count>();
}

std::span<const std::string_view> line_classes() { return class_words; }

Kind kind_of(std::string_view line_class) {
  if (line_class == "benign") return Kind::benign;
  if (line_class == "mask") return Kind::mask;
  if (line_class == "finished") return Kind::finished;
  if (line_class == "progress") return Kind::progress;
  return line_class == "advice" ? Kind::advice : Kind::fault;
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
