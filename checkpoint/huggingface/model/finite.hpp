// Whether every number of a tensor is one.
//
// In: a tensor of floats as it lies in a file, at any address. Out: where the first infinity or
// "not a number" stands. All of it is read, at the speed of memory. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/format/tensor.hpp"
#include "common/base/error.hpp"

namespace trainward::checkpoint::huggingface {

// The place of the element, counted row by row; nothing where all are finite, or no floats.
std::optional<std::size_t> first_not_finite(const TensorView& tensor);

// Usage: "'NAME' holds nan at [2,5]"; `where` is the folder.
Status check_finite(const std::vector<const TensorView*>& tensors, const std::string& where);

}  // namespace trainward::checkpoint::huggingface
