// The tensors of an open safetensors file, read piece by piece when somebody asks for them.
//
// In: a file whose header has been checked. Out: sources that read its descriptor, which must stay
// open as long as they live. They fail with what the disk says, or with kind corrupt when the file
// has become shorter. Sources of one file may be used by several threads.
#pragma once

#include <filesystem>
#include <vector>

#include "checkpoint/disk/folder_io.hpp"
#include "checkpoint/format/safetensors.hpp"
#include "checkpoint/format/tensor.hpp"
#include "checkpoint/verified.hpp"

namespace trainward::checkpoint {

void append_sources(const OpenFile& file, const Header& header, const std::filesystem::path& where,
                    std::vector<TensorSource>& to);

// Of all files of one section of a checkpoint.
void append_sources(const Verified& checkpoint, const std::vector<Verified::TensorFile>& section,
                    const std::filesystem::path& folder, std::vector<TensorSource>& to);

// The same tensor with its elements as another type; both must be floats (format/floats.hpp). Uses
// a few hundred KiB while it reads.
TensorSource converted(TensorSource source, DType to);

}  // namespace trainward::checkpoint
