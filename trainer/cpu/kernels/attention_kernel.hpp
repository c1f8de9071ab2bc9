// Causal attention and its gradients, block of queries by block: no score reaches the memory, and
// what no query may see is not multiplied.
//
// A block's scores lie in memory of the thread that makes them, [queries of the block, keys up to
// its last one]. The output is divided by the sums of the exponentials at its end; gradients
// recompute the shares in one pass from the scores and the statistics. One thread works on all
// query heads of a key head, in the order of heads and blocks; so the same bits for any number of
// threads. With bf16 operands the shares and their gradients are rounded to bf16 where they are
// multiplied; sums are f32.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "common/base/error.hpp"
#include "trainer/cpu/kernels/kernel.hpp"
#include "trainer/cpu/runtime/runtime.hpp"

namespace trainward::cpu {

// Of the queries' heads, `heads` / `groups` neighbours share one of the keys and values.
struct AttentionSizes {
  std::int64_t batch, positions, heads, groups;
  std::int64_t width, value_width;
  double scale;
  graph::Element element;  // of all but segments and statistics: f32 or bf16
};

// [batch, positions, heads, width], the last stride 1.
struct AttentionOperand {
  BufferId buffer;
  std::int64_t offset;  // elements
  std::int64_t batch_stride, position_stride, head_stride;
};

// What both directions read.
struct AttentionInputs {
  AttentionSizes sizes;
  AttentionOperand q, k, v;
  std::optional<BufferId> segments;  // i32 [batch, positions]: each sees only its own
  std::int64_t segments_offset = 0;
};

// Queries of a block: enough to keep products busy, few enough that little of a block is masked.
std::int64_t queries_at_a_time(std::int64_t positions);

// Results are dense, [batch, positions, heads, width]; those without a buffer are not wanted.
struct AttentionResults {
  std::optional<BufferId> output;
  std::optional<BufferId> statistics;  // f32 [batch, heads, positions]
};
struct AttentionGradients {
  AttentionOperand cotangent;  // of the output
  BufferId statistics;         // as the results have them
  std::int64_t statistics_offset;
  std::array<std::optional<BufferId>, 3> of_qkv;
};

// Errors: permanent, with oneDNN's words, when the library refuses a product.
Result<std::unique_ptr<Kernel>> make_attention_kernel(const Runtime& runtime,
                                                      const AttentionInputs& inputs,
                                                      const AttentionResults& results);
Result<std::unique_ptr<Kernel>> make_attention_kernel(const Runtime& runtime,
                                                      const AttentionInputs& inputs,
                                                      const AttentionGradients& gradients);

}  // namespace trainward::cpu
