// What the evaluations of a run have come to: which were the best, how long ago, and how far they
// and the samples of its prompts have got.
//
// Part of every checkpoint, so that a run that is resumed keeps and ends as it would have. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::trainer {

struct Evaluated {
  std::int64_t step = 0;
  double loss = 0;

  friend bool operator==(const Evaluated&, const Evaluated&) = default;
};

struct Evaluations {
  std::vector<Evaluated> best;  // the lowest first; of equals the earlier
  std::int64_t since_best = 0;  // evaluations after the lowest
  // The newest steps that were evaluated and at which prompts were answered, to the end: a stop may
  // have cut short what the run's own step is owed. -1: none was.
  std::int64_t evaluated_step = -1;
  std::int64_t sampled_step = -1;

  friend bool operator==(const Evaluations&, const Evaluations&) = default;
};

// Adds one, keeping the `keep` best (at least the lowest). Whether it is among those.
bool add(Evaluations& all, const Evaluated& next, std::int64_t keep);

json::object to_json(const Evaluations& all);
// Of a checkpoint of step `step`. One that says nothing of the newest steps was written by an older
// version, and nothing is owed there. Kind corrupt for anything but what to_json() makes.
Result<Evaluations> parse_evaluations(const json::object& object, std::int64_t step);

// What is known where a checkpoint has no evaluations: of an older version, or another program.
Evaluations unknown_evaluations(std::int64_t step);

}  // namespace trainward::trainer
