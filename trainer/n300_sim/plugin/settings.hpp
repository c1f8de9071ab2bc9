// What the plugin is told by the environment, read once when a client or a topology is made.
//
//   TRAINWARD_SIMULATE                  the script of faults (fault_script.hpp)
//   TRAINWARD_ATTEMPT                   which attempt this process is; absent: none
//   TT_METAL_CACHE                      where kernels are kept; absent: nowhere
//   TT_METAL_OPERATION_TIMEOUT_SECONDS  how long a hang lasts before the runtime gives up; absent
//                                       or 0: for ever
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "common/base/error.hpp"
#include "trainer/n300_sim/fault_script.hpp"

namespace trainward::n300 {

inline constexpr std::size_t chips_of_a_board = 2;

struct Settings {
  FaultScript script;
  std::int64_t attempt = 0;
  std::optional<std::filesystem::path> kernels;
  double operation_timeout_s = 0;

  [[nodiscard]] std::size_t chips() const { return script.dead_second_chip ? 1 : chips_of_a_board; }
};

// Errors (usage) name the variable.
Result<Settings> read_settings();

}  // namespace trainward::n300
