// The one line that the attempts of a run make: where each began on it, and which verdicts still
// stand there.
//
// A tracker that reads event files forgets everything from the first step of an attempt on, since
// the attempt does it again. The verdict of the attempt before stands at the end of what it had
// done, mostly behind that, and would be forgotten too: so it is told again where the next attempt
// begins, together with those that were told there before. Pure but for the reads of the store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::tracking {

// When it was started, or was to be.
std::int64_t began_ms(const store::AttemptRow& attempt);

// What is needed of an attempt that has ended.
struct Ended {
  std::int64_t attempt = 0;
  std::int64_t at_step = 0;  // the last it had done, or where it would have begun
  std::string verdict;       // as markdown
};

struct Place {
  std::int64_t start = 0;  // from here on all that was shown is forgotten
  // The first step that it did. Those from `start` on before it were done by earlier attempts than
  // the last, as after a try from an older checkpoint, and are shown again.
  std::int64_t first = 0;
  // Whose verdicts the start of this attempt takes away, the oldest first; told again at `start`.
  std::vector<Ended> told_again;
  std::int64_t second = 0;  // for the name of its file: beyond those of all attempts before
};

class Timeline {
 public:
  // Where `attempt` begins, which must be the next one: all before it were ended().
  // Kind transient while nothing shows that yet.
  Result<Place> begin(const store::Store& store, const store::AttemptRow& attempt);
  // Whether that shows: it has done a step, or ended.
  static Result<bool> shows(const store::Store& store, const store::AttemptRow& attempt);
  // Where its verdict is told: nowhere that begin() of it has told something already.
  static std::int64_t end_step(const store::AttemptRow& attempt, const Place& place);
  void ended(const store::AttemptRow& attempt, const Place& place);

 private:
  struct Standing {
    std::int64_t step = 0;
    std::vector<Ended> verdicts;
  };
  std::vector<Standing> standing_;  // by step
  std::int64_t end_ = 0;            // the last step that stands
  std::int64_t second_ = 0;
};

}  // namespace trainward::tracking
