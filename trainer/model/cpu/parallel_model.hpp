// Data-parallel training: one model in several processes, each with a part of every step's
// sequences and a copy of all state.
//
// Rank 0 trains as if it were alone, on what make_leader() gives it: a Trainable that takes the
// tokens of the whole step, hands them to the other ranks and works on its part. The others
// follow() what it does. Gradients and losses are summed over the ranks, so that every rank takes
// the same step; only rank 0 reads data, saves, or says anything.
#pragma once

#include <functional>
#include <memory>

#include "common/base/error.hpp"
#include "trainer/model/model_spec.hpp"
#include "trainer/model/training/trainable.hpp"
#include "trainer/ranks/communicator.hpp"

namespace trainward::trainer {

// A model of this process that takes its part of each step and sums with `peers`.
using MakePart = std::function<Result<std::unique_ptr<Trainable>>(const TrainingSpec& part,
                                                                  Communicator& peers)>;

// The part of the work each of `ranks` processes has, the same sequences a step in all: a split
// batch, else fewer batches each. Kind usage, when neither divides.
Result<TrainingSpec> split_over(TrainingSpec whole, std::int64_t ranks);

// On rank 0. `peers` must outlive it.
Result<std::unique_ptr<Trainable>> make_leader(const TrainingSpec& whole, Communicator& peers,
                                               const MakePart& make_part);
// On rank 0, after the leader is gone and whether or not there was one: the others end too.
void dismiss_followers(Communicator& peers, int exit_code);

// On every other rank, until it is dismissed: the exit code of rank 0. Errors are this rank's own.
Result<int> follow(Communicator& peers, const MakePart& make_part);

}  // namespace trainward::trainer
