// The parts of a training step that follow the gradients, as graphs: adding up over batches, the
// norm, and AdamW. Pure; all values f32 unless said.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/graph/graph.hpp"
#include "trainer/graph/op.hpp"
#include "trainer/optim/adamw.hpp"

namespace trainward::trainer {

// `backward` with one more parameter for each output from `first_sum` on, which is added to it:
// (parameters…, sums so far…) -> the same outputs.
Result<graph::Graph> add_to_sums(const graph::Graph& backward, std::size_t first_sum);

// (gradients…) -> those, each summed over its devices.
Result<graph::Graph> make_exchange(const std::vector<graph::Type>& gradients,
                                   const std::vector<graph::op::AllReduce>& over);

// (squares [], gradients…) -> (squares + the gradients' squares []). `shares`: what part of its
// squares this device counts, since others count the same.
Result<graph::Graph> make_finish(const std::vector<graph::Type>& gradients,
                                 const std::vector<double>& shares);

// (squares [] of all gradients) -> what they are multiplied by, so that their norm is at most
// `limit`
// [], as optim::AdamW::factors has it.
Result<graph::Graph> make_clip(double limit);

// What AdamW's update takes each step, as scalars in this order; optim::AdamWFactors has the rest.
enum class UpdateFactor { keep, clip, step_size, denominator };
inline constexpr std::size_t update_factors = 4;
std::vector<float> values_of(const optim::AdamWFactors& factors);  // in that order

// (parameters…) -> those of them for which `packed` says so, as bf16. Not for none.
Result<graph::Graph> make_pack(const std::vector<graph::Type>& parameters,
                               const std::vector<bool>& packed);

// (factors [] × 4, parameters…, gradients…, means…, variances…)
//   -> (parameters…, means…, variances…, and as bf16 those parameters for which `packed` says so)
// with the formula of trainer/optim/adamw_loops.inc. Of `decays` and `packed` one for each.
Result<graph::Graph> make_update(const std::vector<graph::Type>& parameters,
                                 const std::vector<bool>& decays, const std::vector<bool>& packed,
                                 const optim::AdamWOptions& options);

}  // namespace trainward::trainer
