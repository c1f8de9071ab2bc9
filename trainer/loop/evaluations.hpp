// What the evaluations of a run have come to: which were the best, and how long ago.
//
// Part of every checkpoint, so that a run that is resumed keeps and ends as it would have. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json.hpp"

namespace trainward::trainer {

struct Evaluated {
  std::int64_t step = 0;
  double loss = 0;

  friend bool operator==(const Evaluated&, const Evaluated&) = default;
};

struct Evaluations {
  std::vector<Evaluated> best;  // the lowest first; of equals the earlier
  std::int64_t since_best = 0;  // evaluations after the lowest

  friend bool operator==(const Evaluations&, const Evaluations&) = default;
};

// Adds one, keeping the `keep` best (at least the lowest). Whether it is among those.
bool add(Evaluations& all, const Evaluated& next, std::int64_t keep);

json::object to_json(const Evaluations& all);
// Kind corrupt for anything but what to_json() makes.
Result<Evaluations> parse_evaluations(const json::object& object);

}  // namespace trainward::trainer
