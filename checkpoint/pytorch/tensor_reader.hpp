// The bytes of a file's tensors, row by row as a checkpoint keeps them, whatever their strides.
//
// In: an archive, which must outlive the reader. Out: any range of a tensor's bytes. A storage with
// a checksum is checked as a whole before its first byte is handed out. Contiguous tensors are read
// straight into the caller's memory; strided ones are gathered through a window of at most 64 MiB.
// Errors of kind corrupt name the tensor's storage and the byte in the file. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "checkpoint/pytorch/archive/archive.hpp"
#include "common/base/error.hpp"

namespace trainward::checkpoint::pytorch {

class TensorReader {
 public:
  explicit TensorReader(const Archive& archive)
      : archive_(archive), checked_(archive.places.size()) {}

  // Fills `into` with the bytes of the row-major tensor that begin at `at`.
  Status read(const Tensor& tensor, std::uint64_t at, std::span<std::byte> into);

 private:
  Status check(const Tensor& tensor);
  Status gather(const Tensor& tensor, std::uint64_t at, std::span<std::byte> into);
  // `begin` is in the source.
  Status fetch(const Tensor& tensor, std::uint64_t begin, std::span<std::byte> into);

  const Archive& archive_;
  std::vector<bool> checked_;  // by storage
  std::vector<std::byte> window_;
  std::uint64_t window_begin_ = 0;
};

}  // namespace trainward::checkpoint::pytorch
