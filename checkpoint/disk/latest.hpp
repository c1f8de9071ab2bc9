// The file `latest`: a convenience for people and scripts. Nothing here decides by it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::checkpoint {

// Replaces the file durably. Anything there that is not a file stays: it is not ours.
Status point_latest(const std::filesystem::path& root, std::string_view folder_name);

// The folder name in it, or empty.
std::string read_latest(const std::filesystem::path& root);

// Why it does not name the checkpoint that has just been saved there, after another try; empty: it
// does.
std::string latest_problem(const std::filesystem::path& folder);

// Makes it what read_latest() returned before, as well as the disk lets us.
void restore_latest(const std::filesystem::path& root, const std::string& folder_name);

}  // namespace trainward::checkpoint
