// The parts of an AGILLM-3 block. `p` holds the block's parameters in the order of parameters.hpp.
#pragma once

#include <span>

#include "trainer/model/attention.hpp"

namespace trainward::trainer {

using BlockWeights = std::span<const graph::Value>;

// What attention reads: x after its layer norm, and the weights it is read with.
graph::Value attention_input(graph::Builder& b, graph::Value x, BlockWeights p);
AttentionWeights attention_weights(BlockWeights p);

// The rest of the block: the residual sum with attention's result, and the feed-forward part.
graph::Value after_attention(graph::Builder& b, graph::Value x, graph::Value attended,
                             BlockWeights p);

// ln.weight, ln.bias, weight, and a bias unless the head is tied.
graph::Value head_logits(graph::Builder& b, graph::Value x, std::span<const graph::Value> p);

}  // namespace trainward::trainer
