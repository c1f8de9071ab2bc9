// The model section of a checkpoint with a config.json, opened for copying.
//
// In: a checkpoint's folder. Out: what it records of its model and its tensors as sources, which
// the object must outlive; nothing of the optimizer is read. check() compares the model's files
// with their checksums before they are copied. Errors as in record_of() and verify().
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "checkpoint/huggingface/model/model_record.hpp"
#include "checkpoint/verified.hpp"

namespace trainward::checkpoint::huggingface {

struct CheckpointModel {
  std::filesystem::path folder;
  Verified files;
  ModelRecord record;
  std::vector<TensorSource> tensors;

  static Result<CheckpointModel> open(const std::filesystem::path& folder);
  [[nodiscard]] std::uint64_t bytes() const;  // that check() reads
  // Progress is told of bytes done of `total`.
  [[nodiscard]] Status check(const IoOptions& io, std::uint64_t total) const;
};

}  // namespace trainward::checkpoint::huggingface
