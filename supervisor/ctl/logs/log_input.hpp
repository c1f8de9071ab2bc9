// A log that a command is given: a file, or "-" for standard input.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::ctl {

// All of it, piece by piece.
Status read_input(const std::string& file, const std::function<void(std::string_view)>& visit);

}  // namespace trainward::ctl
