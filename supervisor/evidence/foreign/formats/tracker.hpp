// The steps of a run, from what the lines of one format say.
//
// In: readings that name a step, in the order of the log. Out: steps that count, from 1, each once
// and increasing, when the format has proved itself: as many steps in a row as it needs, each later
// than the one before and all of one shape. What was held back until then comes with it.
// A counter that restarts each epoch continues where the previous epoch ended. One that goes down
// otherwise, as that of another rank or of an evaluation, is not followed.
// Memory: what is held back, at most as many readings as the proof needs.
#pragma once

#include <optional>
#include <vector>

#include "supervisor/evidence/foreign/formats/format_reading.hpp"

namespace trainward::foreign {

struct Step {
  std::int64_t step = 0;
  StepFigures measures = {};
  std::int64_t counter_end = 0;  // the last step of its counter; 0: it does not say
  bool of_run = false;           // which is the run's, as far as it says, and not an epoch's
  [[nodiscard]] bool last() const { return of_run && counter_end == step; }
  friend bool operator==(const Step&, const Step&) = default;
};

class Tracker {
 public:
  explicit Tracker(std::size_t proof) : proof_(proof) {}

  // The steps that count now; empty while it is not believed, and for what is not followed.
  std::vector<Step> take(const Reading& reading);
  // An epoch begins, whose steps do not name it.
  void begin_epoch(const Reading& epoch) { header_ = epoch; }
  // Not merely said again, or by another rank: it is about something else.
  [[nodiscard]] bool is_astray(const Reading& reading) const;
  // The step that was counted last is this one of the run: what was before is not known here.
  void go_on_from(std::int64_t step);

  [[nodiscard]] bool proved() const { return proved_; }
  [[nodiscard]] std::int64_t newest() const { return newest_; }

 private:
  void name_epoch(Reading& reading) const;
  // Whether `reading` comes later than `before`, which is of the same counter.
  static bool is_later(const Reading& reading, const Reading& before);
  // The counter has restarted since `before`, so many steps into the run.
  static std::int64_t steps_between(const Reading& reading, const Reading& before);
  std::optional<Step> count(const Reading& reading);

  std::size_t proof_;
  bool proved_ = false;
  std::vector<Reading> held_;    // evidence, not counted yet
  std::optional<Reading> last_;  // counted last
  std::optional<Reading> header_;
  std::int64_t first_epoch_ = 0;
  std::int64_t base_ = 0;  // steps before the counter's beginning
  std::int64_t newest_ = 0;
};

}  // namespace trainward::foreign
