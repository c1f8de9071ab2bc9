#include "checkpoint/format/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace trainward::checkpoint {

std::string step_name(std::int64_t step) { return fmt::format("step-{:08}", step); }

std::optional<std::int64_t> step_from_name(std::string_view name) {
  constexpr std::string_view prefix = "step-";
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::string_view digits = name.substr(prefix.size());
  std::int64_t step = -1;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (status != std::errc() || step < 0 || step_name(step) != name) return std::nullopt;
  return step;
}

bool is_plain_name(std::string_view name) {
  if (name.empty() || name.size() > 255 || name == "." || name == "..") return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != '/' && c != '\\' && c != 0x7f;
  });
}

std::string last_component(const std::filesystem::path& path) {
  const std::filesystem::path normal = path.lexically_normal();
  return normal.has_filename() ? normal.filename().string()
                               : normal.parent_path().filename().string();
}

}  // namespace trainward::checkpoint
