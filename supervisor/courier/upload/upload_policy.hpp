// Which checkpoint goes up to a target next, and when. Pure.
//
// The newest that is due goes first; what lies between it and the one before is passed over when
// the line is too slow for all of them. Milestones are never passed over: they follow, the newest
// first. What was begun is finished where it is worth it: a milestone, the newest, or more than
// half of it has arrived. What failed is tried again until there is a newer one. Nothing goes up
// twice, but what was found damaged at its place when somebody asks.
//
// A time more than a day ahead was taken by a clock that was wrong, and says nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/orders/targets.hpp"

namespace trainward::upload {

// A verified checkpoint that is still there.
struct Candidate {
  std::string path;
  std::string name;  // as it is published
  std::int64_t step = 0;
  std::int64_t at_ms = 0;  // when it was saved
  bool milestone = false;  // goes up however late, and gets a tag where there are tags
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// What became of one, by this target.
struct Known {
  std::string name;
  std::int64_t step = 0;
  std::string state;  // waiting | sending | done | failed | stale | held
  std::int64_t bytes = 0;
  std::int64_t sent_bytes = 0;
  std::int64_t saved_ms = 0;  // Candidate::at_ms of what was taken
  std::int64_t began_ms = 0;  // when it was first taken
  std::int64_t next_ms = 0;   // of one that failed: not before
  int tries = 0;
  bool asked = false;  // somebody wanted it up, whatever hour it is
  bool milestone = false;
  bool damaged = false;  // what was done is no longer as it was sent, by the last comparison
};

struct Situation {
  std::vector<Candidate> candidates;
  std::vector<Known> known;
  orders::Cadence cadence;
  std::optional<orders::Window> window;
  int minute_of_day = 0;  // by the box's clock
  std::int64_t now_ms = 0;
  bool asked = false;     // somebody wants the newest up now, whatever hour it is
  bool has_tags = false;  // the target names milestones
  bool leaving = false;   // the box may be gone soon: the newest goes up now, in its hours
};

struct Decision {
  std::optional<Candidate> next;
  std::vector<std::string> stale;  // names of what was begun and is no longer worth finishing
  bool held = false;               // only the hours of the day stand against `next`
  bool waits = false;              // something that is due is only tried again later
  std::int64_t again_ms = 0;       // when to decide again at the latest; wall ms
};

Decision decide(const Situation& situation);

// Milliseconds until the window opens; 0: it is open. `minute`: of the day.
std::int64_t until_open_ms(const std::optional<orders::Window>& window, int minute);

}  // namespace trainward::upload
