#include "supervisor/courier/tracking/attempt_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "supervisor/courier/tracking/run_verdict.hpp"
#include "supervisor/courier/tracking/step_metrics.hpp"

namespace trainward::tracking {
namespace {

constexpr std::int64_t rows_at_a_time = 2048;
// Boards are sampled every ten seconds.
constexpr std::int64_t board_every_ms = 5'000;
constexpr std::int64_t goodput_every_ms = 600'000;

// The database stores NaN as infinity.
double shown(double value) {
  return std::isfinite(value) ? value : std::numeric_limits<double>::quiet_NaN();
}

void add(Event& event, std::string_view tag, const std::optional<double>& value) {
  if (value) event.scalars.push_back({std::string(tag), shown(*value)});
}

Event event_of(const store::StepRow& row) {
  Event event{row.step, row.at_ms};
  each_metric(row, [&](std::string_view tag, const std::optional<double>& value) {
    add(event, tag, value);
  });
  return event;
}

// The event of that step, created if missing.
Event& at(std::vector<Event>& events, std::int64_t step, std::int64_t at_ms) {
  const auto place =
      std::lower_bound(events.begin(), events.end(), step,
                       [](const Event& event, std::int64_t wanted) { return event.step < wanted; });
  if (place != events.end() && place->step == step) return *place;
  return *events.insert(place, Event{step, at_ms});
}

std::string told_again(const std::vector<Ended>& verdicts) {
  std::string text;
  for (auto verdict = verdicts.rbegin(); verdict != verdicts.rend(); ++verdict) {
    text += (text.empty() ? "" : "\n\n---\n\n") + verdict->verdict;
  }
  return text;
}

}  // namespace

void advance(Position& position, const SeenEvent& event) {
  const auto has = [&](std::string_view beginning) {
    return std::any_of(event.tags.begin(), event.tags.end(), [&](const std::string& tag) {
      return std::string_view(tag).starts_with(beginning);
    });
  };
  if (has(tags::attempt)) position.begun = true;
  if (has("train/")) {
    position.any_step = true;
    position.step = std::max(position.step, event.step);
  }
  if (has("eval/")) position.evaluation = std::max(position.evaluation, event.step);
  if (has("board/")) position.board_ms = std::max(position.board_ms, event.at_ms);
  if (has("goodput/")) {
    position.goodput_ms = std::max(position.goodput_ms, event.at_ms);
    position.goodput_step = std::max(position.goodput_step, event.step);
  }
}

Result<Position> AttemptEvents::begin(const store::Store& store, const store::AttemptRow& attempt,
                                      const Place& place) const {
  Position position;
  position.step = place.start - 1;
  position.board_ms = began_ms(attempt);
  position.goodput_ms = began_ms(attempt);
  // The step that an attempt goes on from may be evaluated again, and is shown as it was.
  auto before = store.evaluated_before(program_, attempt.number, place.start);
  if (!before) return propagate(before);
  position.evaluation = before->value_or(-1);
  return position;
}

Result<AttemptEvents::Batch> AttemptEvents::next(const store::Store& store,
                                                 const store::AttemptRow& attempt,
                                                 const Place& place, Position& position) {
  Batch batch;
  if (auto read = add_steps(store, attempt, place, position, batch); !read) return propagate(read);
  if (auto read = add_evaluations(store, attempt, place, position, batch); !read)
    return propagate(read);
  if (!position.begun && (!batch.events.empty() || attempt.ended_ms > 0)) {
    Event& first = at(batch.events, place.start, began_ms(attempt));
    first.scalars.push_back({tags::attempt, static_cast<double>(attempt.number)});
    if (!place.told_again.empty()) {
      first.texts.push_back({tags::verdict, told_again(place.told_again)});
    }
    position.begun = true;
  }
  return batch;
}

Status AttemptEvents::add_steps(const store::Store& store, const store::AttemptRow& attempt,
                                const Place& place, Position& position, Batch& batch) {
  const bool known = scanned_attempt_ == attempt.number && scanned_step_ > position.step;
  const std::int64_t after = known ? scanned_step_ : position.step;
  std::int64_t rows = 0;
  std::int64_t last = after;
  const auto take = [&](const store::StepRow& row) {
    ++rows;
    last = row.step;
    if (position.any_step && row.step / every_ == position.step / every_) return;
    Event event = event_of(row);
    if (event.scalars.empty()) return;
    position.any_step = true;
    position.step = row.step;
    batch.events.push_back(std::move(event));
  };
  if (after < place.first - 1) {
    auto read = store.each_curve_step(program_, {after, place.first - 1, attempt.number},
                                      rows_at_a_time, take);
    if (!read) return read;
    if (rows < rows_at_a_time) last = place.first - 1;
  }
  if (rows < rows_at_a_time) {
    auto read = store.each_step(program_, attempt.number, last, rows_at_a_time - rows, take);
    if (!read) return read;
  }
  scanned_attempt_ = attempt.number;
  scanned_step_ = last;
  batch.more = rows == rows_at_a_time;
  for (Event& event : batch.events) {
    if (event.at_ms - position.board_ms >= board_every_ms) {
      auto added = add_boards(store, attempt.number, event.at_ms, position, event);
      if (!added) return added;
    }
    if (event.at_ms - position.goodput_ms >= goodput_every_ms) {
      if (auto added = add_goodput(store, event.at_ms, event); !added) return added;
      position.goodput_ms = event.at_ms;
      position.goodput_step = event.step;
      boards_of_attempt_ = -1;  // now and then another may have come
    }
  }
  return {};
}

// Those beyond the steps of a batch that is not the last wait for theirs.
Status AttemptEvents::add_evaluations(const store::Store& store, const store::AttemptRow& attempt,
                                      const Place& place, Position& position, Batch& batch) const {
  const auto take = [&](const store::EvaluationRow& row) {
    if (batch.more && row.step > scanned_step_) return;
    Event& event = at(batch.events, row.step, row.at_ms);
    event.scalars.push_back({"eval/loss", shown(row.loss)});
    add(event, "eval/perplexity", row.perplexity);
    position.evaluation = row.step;
  };
  if (position.evaluation < place.first - 1) {
    auto read = store.each_curve_evaluation(
        program_, {position.evaluation, place.first - 1, attempt.number}, take);
    if (!read) return read;
  }
  return store.each_evaluation(program_, attempt.number,
                               std::max(position.evaluation, place.first - 1), take);
}

Status AttemptEvents::add_boards(const store::Store& store, std::int64_t attempt,
                                 std::int64_t at_ms, Position& position, Event& event) {
  if (boards_of_attempt_ != attempt) {
    auto boards = store.boards_of(program_);
    if (!boards) return propagate(boards);
    boards_ = std::move(*boards);
    boards_of_attempt_ = attempt;
  }
  for (const std::string& serial : boards_) {
    auto sample = store.newest_board_sample(serial, program_, attempt, position.board_ms, at_ms);
    if (!sample) return propagate(sample);
    if (!*sample || !(*sample)->temperature_c) continue;
    event.scalars.push_back(
        {fmt::format("board/{}/temperature_c", serial), *(*sample)->temperature_c});
  }
  position.board_ms = at_ms;
  return {};
}

Status AttemptEvents::add_goodput(const store::Store& store, std::int64_t at_ms, Event& event) {
  auto shares = goodput_.until(store, at_ms);
  if (!shares) return propagate(shares);
  if (!*shares) return {};
  event.scalars.push_back({"goodput/effective_share", (*shares)->effective});
  for (const auto& [phase, seconds] : (*shares)->seconds) {
    event.scalars.push_back({fmt::format("goodput/{}_seconds", phase), seconds});
  }
  return {};
}

Result<Event> AttemptEvents::end(const store::Store& store, const store::AttemptRow& attempt,
                                 const Place& place, const Position& position) {
  Event event{Timeline::end_step(attempt, place), attempt.ended_ms};
  event.texts.push_back({tags::verdict, verdict_markdown(attempt)});
  if (event.step > place.start) {
    event.scalars.push_back({tags::attempt, static_cast<double>(attempt.number)});
  }
  if (event.step > position.goodput_step) {
    if (auto added = add_goodput(store, attempt.ended_ms, event); !added) return propagate(added);
  }
  return event;
}

}  // namespace trainward::tracking
