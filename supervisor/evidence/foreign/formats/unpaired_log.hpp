// Hugging Face's Trainer without a progress bar (disable_tqdm) prints losses and no steps. Its
// checkpoints say which steps they were: trainer_state.json has a list of all that was logged.
//
// In: the lines as they come, and the list whenever there is a newer one. Out: steps, each once and
// increasing. The line that the list ends with is found by its loss; from there on each line is
// `every` steps later. Lines of an earlier attempt, which the list has too, are left out.
// Memory: the newest 256 lines.
#pragma once

#include <deque>
#include <vector>

#include "supervisor/evidence/foreign/formats/tracker.hpp"

namespace trainward::foreign {

struct TrainerLog {
  std::int64_t every = 0;   // steps between lines; 0: not told
  std::vector<Step> steps;  // with what was logged at each, the oldest first
};

class UnpairedLog {
 public:
  std::vector<Step> line(const StepFigures& measures);
  // Empty when none of the lines is the last of the list.
  std::vector<Step> learn(const TrainerLog& log);

 private:
  Step next(const StepFigures& measures);

  std::deque<StepFigures> lines_;  // the newest last
  std::size_t count_ = 0;          // of all lines
  std::int64_t every_ = 0;         // 0: nothing was learned yet
  std::int64_t newest_ = 0;
};

}  // namespace trainward::foreign
