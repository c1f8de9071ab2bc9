#include "supervisor/foreign/step_pace.hpp"

#include <cmath>
#include <iterator>
#include <utility>

namespace trainward::foreign {
namespace {

// A loss that is none ends the attempt: that is no step like the others.
bool may_wait(const core::Event& event) {
  const auto* step = std::get_if<core::StepDone>(&event);
  return step != nullptr && (!step->loss || std::isfinite(*step->loss));
}

}  // namespace

Events StepPace::rest() {
  Events events;
  if (waiting_) events.push_back(*std::exchange(waiting_, std::nullopt));
  return events;
}

Events StepPace::keep(Events events, MonoTime at) {
  tokens_.refill(at);
  Events kept;
  for (core::Event& event : events) {
    if (may_wait(event) && !tokens_.has_one()) {
      if (waiting_ && !std::exchange(told_, true)) {
        kept.emplace_back(core::Noticed{
            "messages",
            "it prints more than 100 steps a second: of every 10 ms the newest is recorded"});
      }
      waiting_ = std::move(event);
      continue;
    }
    if (may_wait(event)) {
      waiting_.reset();  // it has been overtaken
      tokens_.take(1, 0);
    }
    Events before = rest();
    kept.insert(kept.end(), std::make_move_iterator(before.begin()),
                std::make_move_iterator(before.end()));
    kept.push_back(std::move(event));
  }
  return kept;
}

}  // namespace trainward::foreign
