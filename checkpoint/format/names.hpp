// The names inside a checkpoint root and a checkpoint folder. Pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace trainward::checkpoint {

namespace name {
// Sections; their files are named by tensor_files.hpp.
inline constexpr std::string_view model = "model";
inline constexpr std::string_view optimizer = "optimizer";
inline constexpr std::string_view state = "state.json";
inline constexpr std::string_view manifest = "MANIFEST.json";
inline constexpr std::string_view pinned = "PINNED";
inline constexpr std::string_view latest = "latest";
// Prefixes of folders that are not checkpoints (not yet, or no longer).
inline constexpr std::string_view temporary = ".tmp-";    // being written or being removed
inline constexpr std::string_view replaced = ".old-";     // the old one while a new one moves in
inline constexpr std::string_view corrupt = ".corrupt-";  // set aside by select()
inline constexpr std::string_view rolled_back = ".rolled-back-";  // set aside by roll_back()
}  // namespace name

// "step-00001234"
std::string step_name(std::int64_t step);
// The step of exactly such a name; "step-1" and "step-000000001" are not ours.
std::optional<std::int64_t> step_from_name(std::string_view name);

// True for a name that can only mean a file directly in its folder.
bool is_plain_name(std::string_view name);

// The last component, also of "a/b/".
std::string last_component(const std::filesystem::path& path);

}  // namespace trainward::checkpoint
