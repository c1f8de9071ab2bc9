// What the words before a number say that it is.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/protocol/step_figures.hpp"

namespace trainward::foreign {

enum class Meaning : std::uint8_t {
  other,
  step,
  batch,  // a step, unless the line has one
  epoch,
  loss,
  held_out,  // loss of data that is not trained on
  learning_rate,
  grad_norm,
  tokens,
  tokens_per_second,
  mfu,            // model FLOPs utilization, in percent
  device_memory,  // in GiB
  named,          // a figure that names its unit, by its name in the table: Understood::figure
};

struct Understood {
  Meaning meaning = Meaning::other;
  // Of the losses of a line the highest is meant, "loss" before "kl loss"; so of its steps, "step"
  // before "iter", which may be a part of one.
  int rank = 0;
  bool no_words = false;
  bool held_out = false;    // "val step"
  bool names_loss = false;  // "loss at step": the loss comes after it
  const StepFigure* figure = nullptr;
};
// `key` as printed: the last four words of it count. `unit` as in "8123 tok/s".
Understood understand(std::string_view key, std::string_view unit);

}  // namespace trainward::foreign
