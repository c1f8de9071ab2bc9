// What one line of a training program says, before anybody decides whether it counts.
//
// Nothing here is invented: what a line does not say is empty. Numbers are as printed; whether a
// counter restarts each epoch, and what step of the run that is, is worked out in tracker.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "common/protocol/step_figures.hpp"

namespace trainward::foreign {

struct Reading {
  enum class Kind : std::uint8_t {
    step,        // a step is done
    measures,    // of a step that the line does not name
    evaluation,  // a loss of data that is not trained on
    epoch,       // an epoch begins
    bar,         // a progress bar that does not say what it is of
    finished,    // training is over; what follows is saving, merging, uploading
  };
  Kind kind = Kind::step;
  std::optional<std::int64_t> step;
  std::optional<std::int64_t> total;  // the counter's last value, as "60/500" has it
  std::optional<std::int64_t> epoch;  // from 0 or 1, as printed
  std::optional<std::int64_t> epochs;
  bool in_epoch = false;                // the counter restarts each epoch
  bool labelled = false;                // a bar that says what it is of, in words
  StepFigures measures = {};            // a loss may be nan or infinite, as printed
  std::optional<double> held_out = {};  // loss of data that is not trained on
  std::uint64_t shape = 0;              // lines of one origin have one shape
};

}  // namespace trainward::foreign
