// Files that hold a key or a token: read when it is needed, so that one that was changed counts at
// once. Nothing of their text is ever part of an error.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/error.hpp"

namespace trainward {

// The file's owner is this process's user or root, and no other user may read or write it. Kind
// permanent, with the command that mends it.
Status check_private(int file, const std::filesystem::path& path);

// Of at most 64 KiB, without spaces at its ends. Waits for nothing, whatever lies there. Kind
// permanent: it is not there, is not private (check_private()), or is empty; with what to do.
Result<std::string> read_secret(const std::filesystem::path& path);

// Changes whenever the file is replaced, written, or gets another mode or owner; nothing of the
// secret is in it. Empty if there is no file.
std::string secret_stamp(const std::filesystem::path& path);

// A variable of this process's environment, without spaces at its ends; empty: it is not set.
std::string secret_variable(const std::string& name);

}  // namespace trainward
