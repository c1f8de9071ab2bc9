#include "supervisor/evidence/foreign/terms/foreign_report.hpp"

#include <algorithm>
#include <array>

namespace trainward::foreign {

bool is_phase(std::string_view text) {
  constexpr std::array<std::string_view, 6> phases{"load", "compile", "train",
                                                   "save", "upload",  "evaluate"};
  return std::find(phases.begin(), phases.end(), text) != phases.end();
}

Events Progress::news(Events events) {
  std::erase_if(events, [this](const core::Event& event) { return !is_news(event); });
  return events;
}

bool Progress::is_news(const core::Event& event) {
  if (const auto* step = std::get_if<core::StepDone>(&event)) {
    if (step->step.number >= seen_) behind_ = false;
    if (step->step.number <= seen_) return false;
    seen_ = step->step.number;
    phase_ = "train";
    return true;
  }
  if (behind_) return false;
  if (const auto* entered = std::get_if<core::PhaseEntered>(&event)) {
    // A program names its phase in every line; the core wants to know of changes.
    if (entered->phase == phase_) return false;
    phase_ = entered->phase;
  }
  return true;
}

}  // namespace trainward::foreign
