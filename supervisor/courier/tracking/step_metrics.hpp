// A step as trackers show it. Pure.
#pragma once

#include "supervisor/record/store/rows/rows.hpp"

namespace trainward::tracking {

// Calls take(tag, value) for each figure that trackers get; nothing where nobody told it. A loss or
// norm that is no number is infinite, as the database keeps it.
template <typename Take>
void each_metric(const store::StepRow& row, const Take& take) {
  for (const StepFigure& figure : step_figures) {
    if (!figure.tag.empty()) take(figure.tag, value_of(row, figure));
  }
}

}  // namespace trainward::tracking
