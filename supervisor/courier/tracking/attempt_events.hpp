// What an attempt did, from the run database, as the events of its file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/courier/tracking/goodput.hpp"
#include "supervisor/courier/tracking/tensorboard/tensorboard_event.hpp"
#include "supervisor/courier/tracking/timeline.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::tracking {

namespace tags {
inline constexpr const char* attempt = "attempt/number";
inline constexpr const char* verdict = "attempt/verdict";
}  // namespace tags

// How far an attempt has been shown. What a file holds says it again: see seen().
struct Position {
  bool begun = false;           // that it is this attempt has been said
  bool any_step = false;        // of those that follow, the first is always shown
  std::int64_t step = 0;        // the last one shown
  std::int64_t evaluation = 0;  // of the last evaluation shown
  std::int64_t board_ms = 0;    // samples until then were looked at
  std::int64_t goodput_ms = 0;  // when the shares were shown last
  std::int64_t goodput_step = -1;
  friend bool operator==(const Position&, const Position&) = default;
};

// The position behind an event that was found in a file.
void advance(Position& position, const SeenEvent& event);

class AttemptEvents {
 public:
  // Of every `every` steps the first is shown, evaluations always.
  AttemptEvents(std::string program, std::int64_t every)
      : program_(std::move(program)), every_(every), goodput_(program_) {}

  // Where an attempt begins that nothing was shown of.
  [[nodiscard]] Result<Position> begin(const store::Store& store, const store::AttemptRow& attempt,
                                       const Place& place) const;

  struct Batch {
    std::vector<Event> events;  // an event a step, in their order
    bool more = false;          // ask again
  };
  // What there is beyond `position`, which goes along. Of a running attempt everything so far.
  Result<Batch> next(const store::Store& store, const store::AttemptRow& attempt,
                     const Place& place, Position& position);
  // Its verdict, and where the time went until then.
  Result<Event> end(const store::Store& store, const store::AttemptRow& attempt, const Place& place,
                    const Position& position);

 private:
  Status add_steps(const store::Store& store, const store::AttemptRow& attempt, const Place& place,
                   Position& position, Batch& batch);
  Status add_evaluations(const store::Store& store, const store::AttemptRow& attempt,
                         const Place& place, Position& position, Batch& batch) const;
  Status add_boards(const store::Store& store, std::int64_t attempt, std::int64_t at_ms,
                    Position& position, Event& event);
  Status add_goodput(const store::Store& store, std::int64_t at_ms, Event& event);

  std::string program_;
  std::int64_t every_;
  Goodput goodput_;
  std::vector<std::string> boards_;
  std::int64_t boards_of_attempt_ = -1;
  // Rows up to here need not be read again: none of them is shown.
  std::int64_t scanned_attempt_ = -1;
  std::int64_t scanned_step_ = 0;
};

}  // namespace trainward::tracking
