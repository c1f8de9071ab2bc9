// How wide a terminal is; and with it what measures text in its columns (common/base/columns.hpp)
// and makes it safe for one (clean() of common/base/text.hpp).
#pragma once

#include <cstddef>

#include "common/base/columns.hpp"
#include "common/base/text.hpp"

namespace trainward {

// Columns of the terminal behind a descriptor; 0 without a terminal, or if it does not say.
std::size_t terminal_width(int fd);

}  // namespace trainward
