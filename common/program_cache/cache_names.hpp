// Names in the cache's folder. Pure.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::program_cache {

inline constexpr std::string_view program_suffix = ".program";
inline constexpr std::string_view lock_suffix = ".lock";
inline constexpr std::string_view temporary_infix = ".tmp.";
inline constexpr std::string_view plugin_suffix = ".plugin";

// A key that came from elsewhere must not become a path.
inline bool is_key(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

inline Status require_key(std::string_view key) {
  if (is_key(key)) return {};
  return fail(ErrorKind::usage, "the key of a program is 64 hexadecimal digits in lower case",
              std::string(key.substr(0, 100)));
}

// The key in front of `suffix`; empty when `name` is not made that way.
inline std::string_view key_of(std::string_view name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return {};
  name.remove_suffix(suffix.size());
  return is_key(name) ? name : std::string_view();
}

inline std::filesystem::path file_of(const std::filesystem::path& folder, const std::string& key,
                                     std::string_view suffix) {
  return folder / (key + std::string(suffix));
}

}  // namespace trainward::program_cache
