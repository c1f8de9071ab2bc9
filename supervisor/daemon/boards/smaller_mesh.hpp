// The meshes that a run can go on with when the one it is configured for does not fit. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "supervisor/config/config.hpp"

namespace trainward::daemon {

// What a step is made of, as it is configured: it stays the same on any mesh.
struct StepWork {
  std::int64_t batch = 1;         // sequences at once
  std::int64_t accumulation = 1;  // of them a step
  bool divided = false;           // its weights, over the columns of the mesh (enable_tp)
};

std::int64_t chips_of(const config::Mesh& mesh);

// With fewer chips than `full`, and only where they can share a step's sequences, as rows do where
// the columns divide the weights: these stay as many. The largest first; of equals those with a
// ring (docs/scaling.md), then those nearest to a square. They lie as `full` does.
std::vector<config::Mesh> smaller_meshes(const config::Mesh& full, const StepWork& work);

// "2x4"
std::string name_of(const config::Mesh& mesh);

// What arithmetic alone makes of it: "a step takes about 2 times as long".
std::string cost_of(const config::Mesh& smaller, const config::Mesh& full);

}  // namespace trainward::daemon
