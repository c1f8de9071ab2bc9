// Room on the disk: asked for before anything is written, explained when it is missing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/base/error.hpp"

namespace trainward::checkpoint {

// Fails (permanent) when the file system of `folder`, which exists, has less than `bytes` free for
// this user; the error says how much is missing.
Status require_room(const std::filesystem::path& folder, std::uint64_t bytes);

// What to do when writing `size` bytes failed with this errno; may be empty.
std::string room_hint(int error_number, std::uint64_t size);

}  // namespace trainward::checkpoint
