// Counts a training loop's steps by the names of the programs it runs, and says when a scripted
// fault strikes.
//
// A step ends with programs named update_*; the first other program after them begins the next one,
// and so does the first program of the process. Pure: no clock, no side effect.
#pragma once

#include <cstdint>
#include <string_view>

#include "trainer/n300_sim/fault_script.hpp"

namespace trainward::n300 {

class StepCounter {
 public:
  // Told before each program; true when it begins a step.
  bool runs(std::string_view program);

  [[nodiscard]] bool updates() const { return updating_; }
  // Steps begun before the one that runs now.
  [[nodiscard]] std::int64_t done() const { return begun_ > 0 ? begun_ - 1 : 0; }

 private:
  std::int64_t begun_ = 0;
  bool updating_ = false;
};

enum class Fate {
  runs,
  hangs,
  aborts,
  loses_ethernet,
};

struct Turn {
  Fate fate = Fate::runs;
  bool begins_step = false;
  bool flips = false;  // a bit of what this program updates
  friend bool operator==(const Turn&, const Turn&) = default;
};

class StepFaults {
 public:
  // `attempt`: which start of the run this process is; 0 when not counted.
  StepFaults(const FaultScript& script, std::int64_t attempt)
      : hang_(script.hang),
        abort_(script.abort),
        ethernet_loss_(script.ethernet_loss),
        flip_(script.flip ? std::optional(script.flip->moment) : std::nullopt),
        attempt_(attempt) {}

  // Called before each program that runs.
  Turn next(std::string_view program);

 private:
  [[nodiscard]] bool strikes(const std::optional<Moment>& fault) const;

  std::optional<Moment> hang_;
  std::optional<Moment> abort_;
  std::optional<Moment> ethernet_loss_;
  std::optional<Moment> flip_;  // nothing once it has happened
  std::int64_t attempt_;
  StepCounter steps_;
};

}  // namespace trainward::n300
