#include "supervisor/evidence/foreign/step_pace.hpp"

#include <cmath>
#include <iterator>
#include <utility>

namespace trainward::foreign {
namespace {

constexpr std::int64_t batch_ms = 100;

// A NaN or infinite loss ends the attempt, so such a step never waits.
bool may_wait(const core::Event& event) {
  const auto* step = std::get_if<core::StepDone>(&event);
  return step != nullptr && std::isfinite(step->figures.loss.value_or(0));
}

void append(Events& to, Events&& more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

Events StepPace::rest() {
  Events events = std::exchange(batch_, {});
  if (waiting_) events.push_back(*std::exchange(waiting_, std::nullopt));
  return events;
}

Events StepPace::keep(Events events, MonoTime at) {
  tokens_.refill(at);
  bool flood = waiting_.has_value();
  bool more_than_steps = false;
  for (core::Event& event : events) {
    const bool step = may_wait(event);
    if (step && !tokens_.has_one()) {
      flood = true;
      waiting_ = std::move(event);
      continue;
    }
    if (step) {
      waiting_.reset();  // it has been overtaken
      tokens_.take(1, 0);
    } else {
      more_than_steps = true;
      append(batch_, rest());
    }
    batch_.push_back(std::move(event));
  }
  if (flood && !std::exchange(told_, true)) {
    more_than_steps = true;
    batch_.emplace_back(core::Noticed{
        "messages",
        "it prints more than 100 steps a second: of every 10 ms the newest is recorded"});
  }
  if (flood && !more_than_steps && at < next_batch_) return {};
  next_batch_ = at + batch_ms;
  return std::exchange(batch_, {});
}

}  // namespace trainward::foreign
