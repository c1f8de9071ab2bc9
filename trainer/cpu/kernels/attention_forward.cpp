#include "trainer/cpu/kernels/attention_blocks.hpp"

namespace trainward::cpu {
namespace {

using graph::Element;

constexpr std::size_t output_product = 1;

class Forward final : public AttentionKernel {
 public:
  Forward(const Runtime& runtime, const AttentionInputs& inputs, const AttentionResults& results)
      : AttentionKernel(runtime, inputs), results_(results) {
    const AttentionInputs& in = inputs_;
    make_products(runtime, [&](const Block& block) {
      const Matrix q = matrix(block.rows, sizes_.width, in.q.position_stride);
      const Matrix k = matrix(sizes_.width, block.keys, sizes_.positions);
      const Matrix v = matrix(block.keys, sizes_.value_width, in.v.position_stride);
      const Matrix shares = matrix(block.rows, block.keys, block.keys);
      std::vector<Product> all;
      all.push_back(product(runtime, sizes_.element, q, k, block.keys));
      all.push_back(product(runtime, sizes_.element, shares, v, sizes_.value_width));
      return all;
    });
    keys_ = take_floats(sizes_.positions * sizes_.width);
    scores_ = take_block();
    if (sizes_.element != Element::f32) low_ = take_block();
    totals_ = take_floats(blocks_.front().rows);
    output_ = take_floats(blocks_.front().rows * sizes_.value_width);
    take_library();
  }

 private:
  void work(Addresses addresses, int thread, std::byte* own, std::int64_t batch,
            std::int64_t group) const override {
    auto* scores = reinterpret_cast<float*>(own + scores_);
    auto* totals = reinterpret_cast<float*>(own + totals_);
    auto* output = reinterpret_cast<float*>(own + output_);
    const std::int64_t each = sizes_.heads / sizes_.groups;
    void* k = turned(addresses, inputs_.k, batch, group, sizes_.width, own + keys_);
    void* v = at(addresses, inputs_.v, batch, 0, group);
    for (std::int64_t head = group * each; head < (group + 1) * each; ++head) {
      for (std::size_t i = 0; i < blocks_.size(); ++i) {
        const Block& block = blocks_[i];
        multiply(thread, i, scores_product, at(addresses, inputs_.q, batch, block.first, head), k,
                 scores, own);
        float* statistics = nullptr;
        if (results_.statistics) {
          statistics = reinterpret_cast<float*>(addresses[*results_.statistics]) +
                       (batch * sizes_.heads + head) * sizes_.positions + block.first;
        }
        for_each_row(addresses, batch, block, scores,
                     [&](float* row, std::int64_t r, std::int64_t n) {
                       const float largest = tiles_.largest(row, n) * factor_;
                       totals[r] = loops_.powers(row, factor_, largest, n);
                       if (statistics != nullptr) statistics[r] = largest + std::log(totals[r]);
                     });
        if (!results_.output) continue;
        void* powers = operand(scores, own + low_, block.rows * block.keys);
        multiply(thread, i, output_product, powers, v, output, own);
        // A row of the output is shorter than one of powers.
        for (std::int64_t r = 0; r < block.rows; ++r) {
          tiles_.scale(output + r * sizes_.value_width, 1 / totals[r], sizes_.value_width);
        }
        store(addresses, dense(*results_.output, sizes_.heads, sizes_.value_width), batch,
              block.first, head, output, block.rows, sizes_.value_width);
      }
    }
  }

  AttentionResults results_;
  std::size_t keys_ = 0, scores_ = 0, low_ = 0, totals_ = 0, output_ = 0;
};

}  // namespace

Result<std::unique_ptr<Kernel>> make_attention_kernel(const Runtime& runtime,
                                                      const AttentionInputs& inputs,
                                                      const AttentionResults& results) {
  return make_attention<Forward>(runtime, inputs, results);
}

}  // namespace trainward::cpu
