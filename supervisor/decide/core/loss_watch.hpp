// Whether the loss has broken: not a number, or far above what it was, and staying there.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/step.hpp"
#include "supervisor/decide/core/cause.hpp"

namespace trainward::core {

struct LossWatch {
  std::vector<double> recent;  // of steps that were fine, the newest 64, oldest first
  double usual_limit = 0;      // worked out from them; meaningful once there are 32
  int since_limit = 7;         // steps since it was
  int high = 0;                // steps in a row that are far above
  Step high_since;             // the first of them
  double largest = 0;          // of all that were fine: the size of what is learned away
  friend bool operator==(const LossWatch&, const LossWatch&) = default;
};
BOOST_DESCRIBE_STRUCT(LossWatch, (), (recent, usual_limit, since_limit, high, high_since, largest))

struct LossTrouble {
  Cause cause = Cause::nan;  // or loss_spike
  Step from;                 // first step it shows
  std::string why;
};

// Far above: more than eight times the usual scatter (median absolute deviation) over the median,
// half of the median, and a fiftieth of the largest loss so far, below which a model that has
// learned nearly everything only breathes; in trouble after five such steps in a row.
std::optional<LossTrouble> watch_loss(LossWatch& watch, Step step, double loss, bool spikes_matter);

}  // namespace trainward::core
