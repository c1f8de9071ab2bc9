// Files that hold a key or a token: read when it is needed, so that one that was changed counts at
// once. Nothing of their text is ever part of an error.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/error.hpp"

namespace trainward::upload {

// Of at most 64 KiB, without spaces at its ends. Kind permanent: it is not there, may be read or
// written by others than its owner, or is empty; with what to do.
Result<std::string> read_secret(const std::filesystem::path& path);

// A variable of this process's environment; empty: it is not set.
std::string secret_variable(const char* name);

}  // namespace trainward::upload
