// A .pt file after every check that needs no tensor data: what it holds and where the bytes lie.
//
// In: a file or memory, of either layout that torch.save writes. Out: the tree of its values and,
// for every storage, a range of the source that is known to exist and to be the right size. Refused
// by name: TorchScript, the tar layout of 2016, a bare pickle, big-endian data, a torn file.
// Errors are of kind corrupt and name the byte; a damaged storage is found when it is read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checkpoint/pytorch/pickle/byte_source.hpp"
#include "checkpoint/pytorch/pickle/pickle.hpp"
#include "checkpoint/pytorch/pickle/pickle_tree.hpp"

namespace trainward::checkpoint::pytorch {

enum class Layout { legacy, zip };
std::string_view to_string(Layout layout);
std::optional<Layout> layout_from(std::string_view text);

// Where a storage lies in the source.
struct Place {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::optional<std::uint32_t> crc;  // CRC-32 of these bytes, when the file has one
};

struct Archive {
  SharedSource source;
  Layout layout = Layout::zip;
  Tree tree;
  std::vector<Place> places;  // by index into tree.storages
};

// By the first bytes. `limits`: of the pickle of its values.
Result<Archive> open_archive(SharedSource source, const Limits& limits = {});

Result<Archive> open_legacy(SharedSource source, const Limits& limits = {});
Result<Archive> open_zip(SharedSource source, const Limits& limits = {});

// CRC-32 of a range against `expected`.
Status check_crc(const ByteSource& source, std::uint64_t begin, std::uint64_t bytes,
                 std::uint32_t expected, std::string_view what);

}  // namespace trainward::checkpoint::pytorch
