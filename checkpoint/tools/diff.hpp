// What two checkpoints differ in: tensors, their values, and the training state.
//
// Both are verified first: a difference that a bad disk made up would be worse than none. Tensors
// are read portion by portion. Errors are those of verify(), with the folder's name. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "common/base/json/json.hpp"

namespace trainward::checkpoint {

struct TensorDifference {
  enum class Kind { only_in_first, only_in_second, type_or_shape, values };
  Kind kind = Kind::values;
  std::string section;  // "model" or "optimizer"
  std::string name;
  std::optional<TensorInfo> first;   // empty: only in the second
  std::optional<TensorInfo> second;  // empty: only in the first
  // Of kind values only (format/element_difference.hpp says what counts as different).
  std::uint64_t elements = 0;
  std::uint64_t differing = 0;
  std::optional<double> largest_absolute;  // floats of 16, 32 and 64 bits
  std::optional<double> largest_relative;
};

// A key of state.json, those of `extra` as "extra.KEY". A value that is not there is null.
struct StateDifference {
  std::string key;
  json::value first;
  json::value second;
};

struct Diff {
  std::uint64_t equal_tensors = 0;
  std::vector<TensorDifference> tensors;  // model first, by name
  std::vector<StateDifference> state;

  [[nodiscard]] bool empty() const { return tensors.empty() && state.empty(); }
};

std::string_view to_string(TensorDifference::Kind kind);  // "only_in_first" …

Result<Diff> diff(const std::filesystem::path& first, const std::filesystem::path& second,
                  const IoOptions& io = {});

}  // namespace trainward::checkpoint
