// The text of a file, or of standard input where the name is "-".
#pragma once

#include <string>

#include "common/base/error.hpp"

namespace trainward::hwprobe {

// Refuses more than max_bytes. Waits for the end of standard input: callers that must not hang give
// it one that ends.
Result<std::string> read_input(const std::string& name, std::size_t max_bytes);

}  // namespace trainward::hwprobe
