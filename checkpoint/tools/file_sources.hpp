// The tensors of an open safetensors file, read piece by piece on demand.
//
// In: a file whose header has been checked. Out: sources that read its descriptor, which must stay
// open as long as they live. They fail with what the disk says, or with kind corrupt when the file
// has become shorter. Sources of one file may be used by several threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
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

// Fills `into` with the bytes from `at` on of a tensor that can only be made in whole elements of
// `size` bytes: `make` fills a span with those from element `first` on, 64 Ki of them at the most.
Status by_whole_elements(
    std::uint64_t size, std::uint64_t at, std::span<std::byte> into,
    const std::function<Status(std::uint64_t first, std::span<std::byte> whole)>& make);

// Between two types; both spans hold the same number of whole elements.
using Conversion = std::function<Status(std::span<const std::byte> in, std::span<std::byte> out)>;

// The same tensor with its elements as another type; both must be floats (format/floats.hpp). Uses
// a few hundred KiB while it reads. Without a conversion of one's own it is convert_floats().
TensorSource converted(TensorSource source, DType to);
TensorSource converted(TensorSource source, DType to, Conversion convert);

}  // namespace trainward::checkpoint
