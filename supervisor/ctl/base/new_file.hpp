// A file that a command writes for its user.
#pragma once

#include <filesystem>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::ctl {

enum class Existing { refuse, replace };

// Whole or not at all. What is there already is refused (usage), also when it is a link that leads
// nowhere, unless it may be replaced.
Status write_new_file(const std::filesystem::path& path, std::string_view text, unsigned mode,
                      Existing existing);

}  // namespace trainward::ctl
