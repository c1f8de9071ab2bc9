#include "trainer/model/block.hpp"

#include "trainer/model/layers.hpp"

namespace trainward::trainer {

using graph::Builder;
using graph::Value;

Value attention_input(Builder& b, Value x, BlockWeights p) { return layer_norm(b, x, p[0], p[1]); }

AttentionWeights attention_weights(BlockWeights p) { return {p[2], p[3], p[4], p[5], p[6]}; }

Value after_attention(Builder& b, Value x, Value attended, BlockWeights p) {
  const Value middle = b.add(x, attended);
  const Value normal = layer_norm(b, middle, p[7], p[8]);
  const Value hidden = relu(b, add_bias(b, linear(b, normal, p[9]), p[10]));
  return b.add(middle, add_bias(b, linear(b, hidden, p[11]), p[12]));
}

Value head_logits(Builder& b, Value x, std::span<const Value> p) {
  const Value logits = linear(b, layer_norm(b, x, p[0], p[1]), p[2]);
  return p.size() > 3 ? add_bias(b, logits, p[3]) : logits;
}

}  // namespace trainward::trainer
