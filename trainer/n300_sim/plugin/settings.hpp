// What the plugin is told by the environment, read once when a client or a topology is made.
//
//   TRAINWARD_SIMULATE                  the script of faults (card.hpp)
//   TRAINWARD_PLAN                      the chips of the mesh; absent: one board
//   TRAINWARD_ATTEMPT                   which attempt this process is; absent: none
//   TT_METAL_CACHE                      where kernels are kept; absent: nowhere
//   TT_METAL_OPERATION_TIMEOUT_SECONDS  how long a hang lasts before the runtime gives up; absent
//                                       or 0: for ever
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "common/base/error.hpp"
#include "trainer/n300_sim/card.hpp"

namespace trainward::n300 {

struct Settings {
  Card card;
  std::int64_t attempt = 0;
  std::optional<std::filesystem::path> kernels;
  double operation_timeout_s = 0;
};

// Errors (usage) name the variable.
Result<Settings> read_settings();

}  // namespace trainward::n300
