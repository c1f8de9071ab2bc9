// How far the training had come: the keys that a checkpoint's manifest and its state share.
#pragma once

#include <cstdint>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::checkpoint {

struct Reached {
  std::int64_t step = 0;
  std::int64_t tokens = 0;
  double loss = 0;
};

// Kind corrupt when a key is missing, of another type, or the step is negative.
Result<Reached> read_reached(const json::object& object);

}  // namespace trainward::checkpoint
