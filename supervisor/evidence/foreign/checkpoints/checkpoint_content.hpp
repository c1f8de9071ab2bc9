// What a crash does to a checkpoint file: it is empty, cut off, or something else altogether.
//
// Nobody but the program knows the whole format. A zip (torch.save) must end with its directory, a
// safetensors file must be as long as its header says, a .pt that is no zip must begin as a pickle.
// Of pickles, and of formats unknown here, nothing more can be told.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/base/error.hpp"

namespace trainward::foreign {

// Kind corrupt: why it cannot be used. `fd`: of `path`, open for reading, `size` bytes long.
Status check_content(int fd, std::uint64_t size, const std::filesystem::path& path);

}  // namespace trainward::foreign
