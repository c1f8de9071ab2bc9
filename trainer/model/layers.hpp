// Graph pieces that models are built from. All add nodes to a Builder and inherit its errors.
#pragma once

#include "trainer/graph/builder.hpp"

namespace trainward::trainer {

// What a model's files have as bf16 is multiplied as f32, or rounded to the same bf16 again.
graph::Value wide(graph::Builder& b, graph::Value weight);

// x · weightᵀ over the last axis; weight [out, in], as PyTorch keeps it.
graph::Value linear(graph::Builder& b, graph::Value x, graph::Value weight);
// Adds a vector along the last axis.
graph::Value add_bias(graph::Builder& b, graph::Value x, graph::Value bias);

// Over the last axis, variance without Bessel's correction.
graph::Value layer_norm(graph::Builder& b, graph::Value x, graph::Value weight, graph::Value bias,
                        double epsilon = 1e-5);

// weight · x / sqrt(mean of squares + epsilon), over the last axis (Zhang & Sennrich 2019).
graph::Value rms_norm(graph::Builder& b, graph::Value x, graph::Value weight, double epsilon);

// Over the last axis, with the maximum subtracted first.
graph::Value softmax(graph::Builder& b, graph::Value x);

graph::Value relu(graph::Builder& b, graph::Value x);

// x · (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2, as GPT-2 has it.
graph::Value gelu(graph::Builder& b, graph::Value x);

// x · sigmoid(x), as x · (1 + tanh(x / 2)) / 2, whose gradient is a number everywhere.
graph::Value silu(graph::Builder& b, graph::Value x);

// Rotary positions (Su et al. 2021): the halves [x1 | x2] of the last axis of x [batch, positions,
// heads, width] become [x1·c - x2·s | x2·c + x1·s]; cosines and sines [positions, width / 2].
graph::Value rotate(graph::Builder& b, graph::Value x, graph::Value cosines, graph::Value sines);

// Sets a share `rate` of the elements to zero and scales the others by 1 / (1 - rate). Which ones
// is a function of `key`, i32[3], and the element's position alone, so a run that is resumed drops
// the same ones. The key's last word is the position of the first element: parts of a tensor drop
// what the whole would.
struct DropPlace {
  // Tokens from one row of x, [rows, tokens, width], to the next, where the last word counts
  // tokens: then x may be of any width, and its rows cut short. 0: it counts elements.
  std::int64_t row = 0;
  std::int32_t salt = 0;  // makes one key drop differently in several places
};
graph::Value dropout(graph::Builder& b, graph::Value x, graph::Value key, double rate,
                     const DropPlace& place = {});

// The rows of a table of tokens, wide. Where the devices of a row share it, `ids` count from the
// first that is there, each finds what it has, and the sum is complete.
graph::Value embedding_rows(graph::Builder& b, graph::Value table, graph::Value ids);

// The tokens that logits are of.
struct Vocabulary {
  std::int64_t size = 0;
  // Where the devices of a row share them: the token of the first logit here, an i32 scalar.
  graph::Value first = {};
};

// Mean over all positions of -Σ q log softmax(logits), where q is 1 - smoothing at the target plus
// smoothing spread evenly over the vocabulary; logits […, V], targets i32[…].
// Tokens from the size of the vocabulary on are padding: no probability, no gradient.
graph::Value cross_entropy(graph::Builder& b, graph::Value logits, graph::Value targets,
                           const Vocabulary& vocabulary, double smoothing = 0);
// The sum of the same, each position times its weight, f32 like the targets.
graph::Value weighted_cross_entropy(graph::Builder& b, graph::Value logits, graph::Value targets,
                                    graph::Value weights, const Vocabulary& vocabulary,
                                    double smoothing = 0);

// The first axes of a shape, all but the last: {0, 1, …, rank - 2}.
graph::Axes leading_axes(const graph::Shape& shape);

// What a masked score is set to: exp() of it is exactly 0 after the maximum is subtracted.
inline constexpr double masked_score = -1e30;

}  // namespace trainward::trainer
