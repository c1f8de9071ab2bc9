#include "supervisor/courier/tracking/timeline.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "supervisor/courier/tracking/run_verdict.hpp"

namespace trainward::tracking {
namespace {

// More of a crash loop's verdicts at one place nobody reads.
constexpr std::size_t most_told_again = 20;

Result<std::optional<std::int64_t>> first_step(const store::Store& store,
                                               const store::AttemptRow& attempt) {
  auto first = store.first_step_of(attempt.program, attempt.number);
  if (!first) return first;
  // Rows may have been thinned out; 0 is what an attempt says that did none.
  const std::int64_t said = attempt.first_step;
  if (said > 0 && (!*first || said < **first)) return std::optional(said);
  return first;
}

}  // namespace

std::int64_t began_ms(const store::AttemptRow& attempt) {
  return attempt.started_ms > 0 ? attempt.started_ms : attempt.intended_ms;
}

Result<bool> Timeline::shows(const store::Store& store, const store::AttemptRow& attempt) {
  if (attempt.ended_ms > 0) return true;
  auto first = first_step(store, attempt);
  if (!first) return propagate(first);
  return first->has_value();
}

Result<Place> Timeline::begin(const store::Store& store, const store::AttemptRow& attempt) {
  auto first = first_step(store, attempt);
  if (!first) return propagate(first);
  Place place;
  // An attempt that came to no step takes nothing away.
  place.first = first->value_or(end_ + 1);
  place.start = std::min(place.first, end_ + 1);
  while (!standing_.empty() && standing_.back().step >= place.start) {
    std::vector<Ended>& verdicts = standing_.back().verdicts;
    place.told_again.insert(place.told_again.begin(), std::make_move_iterator(verdicts.begin()),
                            std::make_move_iterator(verdicts.end()));
    standing_.pop_back();
  }
  if (place.told_again.size() > most_told_again) {
    place.told_again.erase(place.told_again.begin(),
                           std::prev(place.told_again.end(), most_told_again));
  }
  if (!place.told_again.empty()) standing_.push_back({place.start, place.told_again});
  const std::int64_t began = std::max(attempt.intended_ms, std::int64_t{0}) / 1000;
  second_ = std::max(began, second_ + 1);
  place.second = second_;
  return place;
}

std::int64_t Timeline::end_step(const store::AttemptRow& attempt, const Place& place) {
  return std::max(attempt.last_step, place.start + (place.told_again.empty() ? 0 : 1));
}

void Timeline::ended(const store::AttemptRow& attempt, const Place& place) {
  const std::int64_t step = end_step(attempt, place);
  standing_.push_back(
      {step,
       {{attempt.number, std::max(attempt.last_step, place.start), verdict_markdown(attempt)}}});
  if (attempt.last_step > 0) end_ = attempt.last_step;
}

}  // namespace trainward::tracking
