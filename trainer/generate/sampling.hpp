// Which token comes next, from the logits of all of them. Pure: the random number is handed in.
#pragma once

#include <cstdint>
#include <span>

namespace trainward::trainer {

struct Sampling {
  double temperature = 0.8;       // 0: always the likeliest token; the first of equals
  std::int64_t top_k = 0;         // only the k likeliest; 0: all
  double top_p = 0.95;            // only the likeliest that have this share together; 1: all
  double repetition_penalty = 1;  // above 1: tokens that were there already are less likely
};

// `uniform` in [0, 1). There must be logits; one that is no number is never chosen. The penalty is
// penalise()'s.
std::int32_t sample(std::span<const float> logits, const Sampling& sampling, double uniform);

// Makes each of these tokens less likely, once however often it is there: logits above zero are
// divided by the penalty, others multiplied by it (Keskar et al. 2019). Ids outside are left alone.
void penalise(std::span<float> logits, std::span<const std::int32_t> tokens, double penalty);

}  // namespace trainward::trainer
