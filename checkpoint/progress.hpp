// The progress of one part of an operation, told as that of the whole.
#pragma once

#include <algorithm>
#include <cstdint>

#include "checkpoint/checkpoint.hpp"

namespace trainward::checkpoint {

// For a part that comes after `before` bytes of `total`. `whole` must outlive what is returned.
inline Progress part_of(const Progress& whole, std::uint64_t before, std::uint64_t total) {
  if (!whole) return {};
  return [&whole, before, total](std::uint64_t done, std::uint64_t) {
    return whole(std::min(before + done, total), total);
  };
}

// The same progress; when its receiver asks to stop, that error is in `ended` too, to tell it from
// a failure of the work itself. Both must outlive what is returned.
inline Progress noting_end(const Progress& progress, Status& ended) {
  if (!progress) return {};
  return [&progress, &ended](std::uint64_t done, std::uint64_t total) {
    return ended = progress(done, total);
  };
}

}  // namespace trainward::checkpoint
