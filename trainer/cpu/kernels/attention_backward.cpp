#include <algorithm>

#include "trainer/cpu/kernels/attention_blocks.hpp"

namespace trainward::cpu {
namespace {

using graph::Element;

// Places among the products of a block, after the scores'. The last two overwrite what those of v
// and k add to.
namespace gradient {
enum Of : std::size_t { shares = 1, q, v, k, first_v, first_k };
}

class Backward final : public AttentionKernel {
 public:
  Backward(const Runtime& runtime, const AttentionInputs& inputs,
           const AttentionGradients& gradients)
      : AttentionKernel(runtime, inputs), gradients_(gradients) {
    const AttentionInputs& in = inputs_;
    make_products(runtime, [&](const Block& block) {
      const std::int64_t all_keys = sizes_.positions;
      const Matrix q = matrix(block.rows, sizes_.width, in.q.position_stride);
      const Matrix k = matrix(block.keys, sizes_.width, in.k.position_stride);
      const Matrix turned_k = matrix(sizes_.width, block.keys, all_keys);
      const Matrix turned_v = matrix(sizes_.value_width, block.keys, all_keys);
      const Matrix g = matrix(block.rows, sizes_.value_width, gradients_.cotangent.position_stride);
      const Matrix shares = matrix(block.rows, block.keys, block.keys);
      std::vector<Product> all;
      const auto add = [&](const Matrix& a, const Matrix& b, std::int64_t stride,
                           bool sum = false) {
        all.push_back(product(runtime, sizes_.element, a, b, stride, sum));
      };
      add(q, turned_k, block.keys);
      add(g, turned_v, block.keys);
      add(shares, k, sizes_.width);
      // [width, keys], so that the small operand is the one that is turned.
      add(transposed(g), shares, all_keys, true);
      add(transposed(q), shares, all_keys, true);
      if (block.keys == all_keys) add(transposed(g), shares, all_keys);
      if (block.keys == all_keys) add(transposed(q), shares, all_keys);
      return all;
    });
    keys_ = take_floats(sizes_.positions * sizes_.width);
    values_ = take_floats(sizes_.positions * sizes_.value_width);
    scores_ = take_block();
    of_shares_ = take_block();
    if (sizes_.element != Element::f32) low_ = take_block();
    of_q_ = take_floats(blocks_.front().rows * sizes_.width);
    of_k_ = take_floats(sizes_.positions * sizes_.width);
    of_v_ = take_floats(sizes_.positions * sizes_.value_width);
    take_library();
  }

 private:
  void work(Addresses addresses, int thread, std::byte* own, std::int64_t batch,
            std::int64_t group) const override {
    auto* of_k = reinterpret_cast<float*>(own + of_k_);
    auto* of_v = reinterpret_cast<float*>(own + of_v_);
    const std::int64_t each = sizes_.heads / sizes_.groups;
    turned(addresses, inputs_.k, batch, group, sizes_.width, own + keys_);
    turned(addresses, inputs_.v, batch, group, sizes_.value_width, own + values_);
    bool first = true;
    for (std::int64_t head = group * each; head < (group + 1) * each; ++head) {
      // From the last block, which sees all keys and so overwrites what the others add to.
      for (std::size_t i = blocks_.size(); i-- > 0; first = false) {
        add_block(addresses, thread, own, batch, {group, head, i, first});
      }
    }
    const auto [q, k, v] = gradients_.of_qkv;
    if (k) store_turned(addresses, *k, batch, group, of_k, sizes_.width, own);
    if (v) store_turned(addresses, *v, batch, group, of_v, sizes_.value_width, own);
  }

  // Of a matrix [width, positions]; the keys' place has served by then.
  void store_turned(Addresses addresses, BufferId out, std::int64_t batch, std::int64_t group,
                    const float* x, std::int64_t width, std::byte* own) const {
    auto* rows = reinterpret_cast<float*>(own + (width == sizes_.width ? keys_ : values_));
    turn(rows, x, width, sizes_.positions, sizes_.positions);
    store(addresses, dense(out, sizes_.groups, width), batch, 0, group, rows, sizes_.positions,
          width);
  }

  struct Place {
    std::int64_t group, head;
    std::size_t block;
    bool first;  // of the group
  };
  void add_block(Addresses addresses, int thread, std::byte* own, std::int64_t batch,
                 const Place& place) const {
    const Block& block = blocks_[place.block];
    const std::int64_t all = block.rows * block.keys;
    auto* scores = reinterpret_cast<float*>(own + scores_);
    auto* of_shares = reinterpret_cast<float*>(own + of_shares_);
    const auto times = [&](std::size_t which, void* a, void* b, std::size_t out) {
      multiply(thread, place.block, which, a, b, reinterpret_cast<float*>(own + out), own);
    };
    void* q = at(addresses, inputs_.q, batch, block.first, place.head);
    void* k = at(addresses, inputs_.k, batch, 0, place.group);
    void* g = at(addresses, gradients_.cotangent, batch, block.first, place.head);
    times(scores_product, q, own + keys_, scores_);
    const auto* statistics = reinterpret_cast<const float*>(addresses[gradients_.statistics]) +
                             gradients_.statistics_offset +
                             (batch * sizes_.heads + place.head) * sizes_.positions + block.first;
    for_each_row(addresses, batch, block, scores, [&](float* row, std::int64_t r, std::int64_t n) {
      (void)loops_.powers(row, factor_, statistics[r], n);
    });
    times(gradient::shares, g, own + values_, of_shares_);
    times(place.first ? gradient::first_v : gradient::v, g, operand(scores, own + low_, all),
          of_v_);
    for (std::int64_t r = 0; r < block.rows; ++r) {
      const std::int64_t whole = worked_on(block.first + r + 1, block);  // the rest has no share
      const float* shares = scores + r * block.keys;
      float* mine = of_shares + r * block.keys;
      const float mean = loops_.product(mine, shares, whole);
      loops_.of_scores(mine, shares, mean, static_cast<float>(sizes_.scale), whole);
      std::fill(mine + whole, mine + block.keys, 0.0F);
    }
    void* of_scores = operand(of_shares, own + low_, all);
    times(place.first ? gradient::first_k : gradient::k, q, of_scores, of_k_);
    if (!gradients_.of_qkv[0]) return;
    times(gradient::q, of_scores, k, of_q_);
    store(addresses, dense(*gradients_.of_qkv[0], sizes_.heads, sizes_.width), batch, block.first,
          place.head, reinterpret_cast<float*>(own + of_q_), block.rows, sizes_.width);
  }

  AttentionGradients gradients_;
  std::size_t keys_ = 0, values_ = 0, scores_ = 0, of_shares_ = 0, low_ = 0;
  std::size_t of_q_ = 0, of_k_ = 0, of_v_ = 0;
};

}  // namespace

Result<std::unique_ptr<Kernel>> make_attention_kernel(const Runtime& runtime,
                                                      const AttentionInputs& inputs,
                                                      const AttentionGradients& gradients) {
  return make_attention<Backward>(runtime, inputs, gradients);
}

}  // namespace trainward::cpu
