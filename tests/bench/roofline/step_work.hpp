// What a training step cannot do without, counted from its graphs: arithmetic of matrix products,
// and bytes to and from memory.
//
// A graph that runs as one program must read what it is given and write what it gives back; what
// lies between may stay in a cache and counts nothing, and neither do elementwise operations. Of a
// table only the rows that are looked up are read. Bounds from these figures are therefore below
// what any executor of the same graphs can reach, as long as the step's state is larger than the
// caches. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/graph/graph.hpp"
#include "trainer/model/model_spec.hpp"
#include "whole_model.hpp"

namespace trainward::roofline {

struct Work {
  double flops = 0;  // of products: two for each multiplication with its addition
  double bytes = 0;
};

// Of one run.
Work work_of(const graph::Graph& graph);

struct StepWork {
  struct Segment {
    Work work;
    std::int64_t times = 1;
  };
  std::vector<Segment> segments;
  double update_bytes = 0;  // of the optimizer's pass

  [[nodiscard]] double flops() const;
  [[nodiscard]] double bytes() const;  // of everything
};

Result<StepWork> work_of_segments(const trainer::TrainingSpec& spec);
StepWork work_of_whole(const trainer::ModelGraph& model, const trainer::Optimizer& optimizer);

struct Machine {
  double flops_per_second = 0;
  double bytes_per_second = 0;
};

// The shortest time a step can take. Inside a segment loads run beside the arithmetic, so the
// longer of the two counts; segments and the update need the whole result of what comes before them
// (the update the norm of all gradients), so theirs add up. `in_cache`: its bytes need not move.
double least_seconds(const StepWork& step, const Machine& machine, bool in_cache);

}  // namespace trainward::roofline
