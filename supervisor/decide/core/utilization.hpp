// How well a training step used its hardware, as far as the program reports it.
#pragma once

#include <cstdint>
#include <optional>

namespace trainward::core {

// What nobody told is not there.
struct Utilization {
  std::optional<double> mfu = {};  // model FLOPs utilization, 0 to 1 (Chowdhery et al. 2022)
  std::optional<double> communication = {};  // with other ranks: share of the step's time, 0 to 1
  // Of the fullest of its devices, in bytes: the most that was in use so far, and all there is.
  std::optional<std::int64_t> device_memory = {};
  std::optional<std::int64_t> device_memory_limit = {};

  friend bool operator==(const Utilization&, const Utilization&) = default;
};

}  // namespace trainward::core
