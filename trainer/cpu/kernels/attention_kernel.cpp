#include "trainer/cpu/kernels/attention_kernel.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "trainer/cpu/kernels/product.hpp"
#include "trainer/cpu/kernels/tile_kernels.hpp"

namespace trainward::cpu {
namespace {

using graph::Element;

// Queries of a block: enough to keep products busy, few enough that little of a block is masked.
std::int64_t rows_of_block(std::int64_t positions) {
  return std::clamp<std::int64_t>((positions / 8 + 63) / 64 * 64, 64, 256);
}

// One tile operation over runs of f32, or between them and bf16.
class Tiles {
 public:
  void scale(float* x, float by, std::int64_t n) const { binary(multiply_, x, {x, 1}, {&by, 0}, n); }
  void subtract(float* x, float what, std::int64_t n) const {
    binary(subtract_, x, {x, 1}, {&what, 0}, n);
  }
  void multiply(float* out, const float* a, const float* b, std::int64_t n) const {
    binary(multiply_, out, {a, 1}, {b, 1}, n);
  }
  void exponential(float* x, std::int64_t n) const { unary(exponential_, x, x, n); }
  [[nodiscard]] float sum(const float* x, std::int64_t n) const { return reduced(sum_, x, n); }
  [[nodiscard]] float largest(const float* x, std::int64_t n) const {
    return reduced(maximum_, x, n);
  }
  void store(void* out, Element element, const float* x, std::int64_t n) const {
    unary(element == Element::bf16 ? to_bf16_ : copy_, out, x, n);
  }

 private:
  static void unary(TileFn function, void* out, const void* x, std::int64_t n) {
    const Lane lane{x, 1};
    function(out, &lane, n);
  }
  static void binary(TileFn function, float* out, Lane a, Lane b, std::int64_t n) {
    const std::array lanes{a, b};
    function(out, lanes.data(), n);
  }
  static float reduced(TileFn function, const float* x, std::int64_t n) {
    float result = 0;
    unary(function, &result, x, n);
    return result;
  }

  TileFn multiply_ = tile_kernel(TileOp::multiply);
  TileFn subtract_ = tile_kernel(TileOp::subtract);
  TileFn exponential_ = tile_kernel(TileOp::exponential);
  TileFn sum_ = tile_kernel(TileOp::row_sum);
  TileFn maximum_ = tile_kernel(TileOp::row_maximum);
  TileFn to_bf16_ = tile_kernel(TileOp::to_bf16);
  TileFn copy_ = tile_kernel(TileOp::copy);
};

// The queries `first` to `first` + `rows` and the keys that they see together.
struct Block {
  std::int64_t first, rows, keys;
};

struct Matrix {
  std::int64_t rows, columns;
  Span row, column;
};
Matrix matrix(std::int64_t rows, std::int64_t columns, std::int64_t row_stride) {
  return {rows, columns, {rows, row_stride}, {columns, 1}};
}
Matrix transposed(const Matrix& x) { return {x.columns, x.rows, x.column, x.row}; }

// `row_stride`: of the result.
Product product(const Runtime& runtime, Element element, const Matrix& a, const Matrix& b,
                std::int64_t row_stride, bool add = false) {
  DotLayout layout;
  layout.m = a.rows;
  layout.n = b.columns;
  layout.k = a.columns;
  layout.lhs_m = a.row;
  layout.lhs_k = a.column;
  layout.rhs_k = b.row;
  layout.rhs_n = b.column;
  layout.out_m = {a.rows, row_stride};
  layout.out_n = {b.columns, 1};
  return {runtime.library(), layout, element, add};
}

// `to` [columns, rows], dense. In pieces of a cache line of rows, which stay in the cache.
template <typename T>
void turn(T* to, const T* from, std::int64_t rows, std::int64_t columns, std::int64_t row_stride) {
  constexpr std::int64_t piece = 16;
  for (std::int64_t begin = 0; begin < rows; begin += piece) {
    const std::int64_t end = std::min(begin + piece, rows);
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t r = begin; r < end; ++r) to[c * rows + r] = from[r * row_stride + c];
    }
  }
}

// Places among the products of a block.
enum Of : std::size_t { scores = 0, output = 1 };
namespace gradient {
enum Of : std::size_t { shares = 1, q, v, k, first_v, first_k };  // the last two overwrite
}

class AttentionKernel : public Kernel {
 public:
  AttentionKernel(const Runtime& runtime, const AttentionInputs& inputs)
      : inputs_(inputs), sizes_(inputs.sizes), threads_(runtime.threads()) {
    const std::int64_t rows = rows_of_block(sizes_.positions);
    for (std::int64_t first = 0; first < sizes_.positions; first += rows) {
      const std::int64_t last = std::min(first + rows, sizes_.positions);
      blocks_.push_back({first, last - first, last});
    }
  }

  [[nodiscard]] std::size_t scratch_bytes() const override {
    return scratch_each_ * static_cast<std::size_t>(threads_);
  }

  void run(Addresses addresses) const final {
    const std::int64_t tasks = sizes_.batch * sizes_.groups;
#pragma omp parallel for num_threads(threads_) schedule(static, 1)
    for (int thread = 0; thread < threads_; ++thread) {
      std::byte* own = scratch(addresses) + scratch_each_ * static_cast<std::size_t>(thread);
      for (std::int64_t task = tasks * thread / threads_; task < tasks * (thread + 1) / threads_;
           ++task) {
        work(addresses, thread, own, task / sizes_.groups, task % sizes_.groups);
      }
    }
  }

 protected:
  // All of one batch entry's group.
  virtual void work(Addresses addresses, int thread, std::byte* own, std::int64_t batch,
                    std::int64_t group) const = 0;

  using Maker = std::function<std::vector<Product>(const Block&)>;
  // For each thread its own, of one thread: they run inside a parallel region.
  void make_products(const Runtime& runtime, const Maker& make) {
    omp_set_num_threads(1);
    for (int thread = 0; thread < threads_; ++thread) {
      std::vector<std::vector<Product>>& own = products_.emplace_back();
      for (const Block& block : blocks_) {
        own.push_back(make(block));
        for (const Product& each : own.back()) {
          library_bytes_ = std::max(library_bytes_, aligned(each.scratch_bytes()));
        }
      }
    }
    runtime.apply();
  }
  // Room in each thread's memory, in bytes.
  std::size_t take(std::size_t bytes) { return std::exchange(scratch_each_, scratch_each_ + aligned(bytes)); }
  std::size_t take_floats(std::int64_t n) { return take(static_cast<std::size_t>(n) * sizeof(float)); }
  std::size_t take_block() {
    return take_floats(blocks_.back().keys * std::max(blocks_.front().rows, blocks_.back().rows));
  }
  void take_library() { library_ = take(library_bytes_); }

  void multiply(int thread, std::size_t block, std::size_t which, void* a, void* b, float* out,
                std::byte* own) const {
    products_[static_cast<std::size_t>(thread)][block][which].run(a, b, out, own + library_);
  }

  [[nodiscard]] std::byte* at(Addresses addresses, const AttentionOperand& operand,
                              std::int64_t batch, std::int64_t position, std::int64_t head) const {
    const std::int64_t elements = operand.offset + batch * operand.batch_stride +
                                  position * operand.position_stride + head * operand.head_stride;
    return addresses[operand.buffer] + elements * element_size();
  }
  [[nodiscard]] std::int64_t element_size() const {
    return static_cast<std::int64_t>(bytes_of(sizes_.element));
  }
  // The same in a dense result.
  [[nodiscard]] AttentionOperand dense(BufferId buffer, std::int64_t heads,
                                       std::int64_t width) const {
    return {buffer, 0, sizes_.positions * heads * width, heads * width, width};
  }

  // Of a row of which so many keys are seen: up to where loops end without a rest.
  static std::int64_t worked_on(std::int64_t seen, const Block& block) {
    constexpr std::int64_t unit = 64;
    return std::min((seen + unit - 1) / unit * unit, block.keys);
  }

  // Turns a block's products of queries and keys into shares. `totals`: logs of the sums of the
  // exponentials, one a row, when they are wanted.
  void take_shares(Addresses addresses, std::int64_t batch, const Block& block, float* scores,
                   float* totals) const {
    const std::int32_t* segments = nullptr;
    if (inputs_.segments) {
      segments = reinterpret_cast<const std::int32_t*>(addresses[*inputs_.segments]) +
                 inputs_.segments_offset + batch * sizes_.positions;
    }
    for (std::int64_t r = 0; r < block.rows; ++r) {
      float* row = scores + r * block.keys;
      const std::int64_t seen = block.first + r + 1;
      const std::int64_t whole = worked_on(seen, block);
      tiles_.scale(row, static_cast<float>(sizes_.scale), seen);
      std::fill(row + seen, row + whole, hidden);
      for (std::int64_t i = 0; segments != nullptr && i < seen; ++i) {
        if (segments[i] != segments[seen - 1]) row[i] = hidden;
      }
      const float largest = tiles_.largest(row, whole);
      tiles_.subtract(row, largest, whole);
      tiles_.exponential(row, whole);
      const float total = tiles_.sum(row, whole);
      tiles_.scale(row, 1 / total, whole);
      std::fill(row + whole, row + block.keys, 0.0F);
      if (totals != nullptr) totals[r] = largest + std::log(total);
    }
  }

  // All positions of a head, turned to [width, positions]: products read it faster than as it lies.
  void* turned(Addresses addresses, const AttentionOperand& operand, std::int64_t batch,
               std::int64_t head, std::int64_t width, std::byte* to) const {
    const std::byte* from = at(addresses, operand, batch, 0, head);
    if (sizes_.element == Element::f32) {
      turn(reinterpret_cast<float*>(to), reinterpret_cast<const float*>(from), sizes_.positions,
           width, operand.position_stride);
    } else {
      turn(reinterpret_cast<std::uint16_t*>(to), reinterpret_cast<const std::uint16_t*>(from),
           sizes_.positions, width, operand.position_stride);
    }
    return to;
  }

  // As an operand of a product: itself, or rounded into `low`.
  void* operand(float* x, std::byte* low, std::int64_t n) const {
    if (sizes_.element == Element::f32) return x;
    tiles_.store(low, sizes_.element, x, n);
    return low;
  }
  // Rows of a result, from a dense matrix.
  void store(Addresses addresses, const AttentionOperand& to, std::int64_t batch,
             std::int64_t first, std::int64_t head, const float* x, std::int64_t rows,
             std::int64_t width) const {
    for (std::int64_t r = 0; r < rows; ++r) {
      tiles_.store(at(addresses, to, batch, first + r, head), sizes_.element, x + r * width, width);
    }
  }

  static constexpr float hidden = -1e30F;  // a score whose exponential is 0
  AttentionInputs inputs_;
  AttentionSizes sizes_;
  int threads_;
  std::vector<Block> blocks_;
  Tiles tiles_;

 private:
  std::vector<std::vector<std::vector<Product>>> products_;  // [thread][block]
  std::size_t scratch_each_ = 0, library_bytes_ = 0, library_ = 0;
};

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
    output_ = take_floats(blocks_.front().rows * sizes_.value_width);
    take_library();
  }

 private:
  void work(Addresses addresses, int thread, std::byte* own, std::int64_t batch,
            std::int64_t group) const override {
    auto* scores = reinterpret_cast<float*>(own + scores_);
    auto* output = reinterpret_cast<float*>(own + output_);
    const std::int64_t each = sizes_.heads / sizes_.groups;
    void* k = turned(addresses, inputs_.k, batch, group, sizes_.width, own + keys_);
    void* v = at(addresses, inputs_.v, batch, 0, group);
    for (std::int64_t head = group * each; head < (group + 1) * each; ++head) {
      for (std::size_t i = 0; i < blocks_.size(); ++i) {
        const Block& block = blocks_[i];
        multiply(thread, i, Of::scores, at(addresses, inputs_.q, batch, block.first, head), k,
                 scores, own);
        float* totals = nullptr;
        if (results_.statistics) {
          totals = reinterpret_cast<float*>(addresses[*results_.statistics]) +
                   (batch * sizes_.heads + head) * sizes_.positions + block.first;
        }
        take_shares(addresses, batch, block, scores, totals);
        if (!results_.output) continue;
        void* shares = operand(scores, own + low_, block.rows * block.keys);
        multiply(thread, i, Of::output, shares, v, output, own);
        store(addresses, dense(*results_.output, sizes_.heads, sizes_.value_width), batch,
              block.first, head, output, block.rows, sizes_.value_width);
      }
    }
  }

  AttentionResults results_;
  std::size_t keys_ = 0, scores_ = 0, low_ = 0, output_ = 0;
};

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
    row_ = take_floats(sizes_.positions);
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
    times(Of::scores, q, own + keys_, scores_);
    take_shares(addresses, batch, block, scores, nullptr);
    times(gradient::shares, g, own + values_, of_shares_);
    times(place.first ? gradient::first_v : gradient::v,
          g, operand(scores, own + low_, all), of_v_);
    auto* row = reinterpret_cast<float*>(own + row_);
    for (std::int64_t r = 0; r < block.rows; ++r) {
      const std::int64_t whole = worked_on(block.first + r + 1, block);  // the rest has no share
      const float* shares = scores + r * block.keys;
      float* mine = of_shares + r * block.keys;
      tiles_.multiply(row, mine, shares, whole);
      tiles_.subtract(mine, tiles_.sum(row, whole), whole);
      tiles_.multiply(mine, mine, shares, whole);
      tiles_.scale(mine, static_cast<float>(sizes_.scale), whole);
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
  std::size_t keys_ = 0, values_ = 0, scores_ = 0, of_shares_ = 0, low_ = 0, row_ = 0;
  std::size_t of_q_ = 0, of_k_ = 0, of_v_ = 0;
};

template <typename Made, typename Wanted>
Result<std::unique_ptr<Kernel>> make(const Runtime& runtime, const AttentionInputs& inputs,
                                     const Wanted& wanted) {
  try {
    return std::make_unique<Made>(runtime, inputs, wanted);
  } catch (const dnnl::error& error) {
    runtime.apply();
    return fail(ErrorKind::permanent,
                fmt::format("oneDNN refuses a product of attention: {}", error.what()));
  }
}

}  // namespace

Result<std::unique_ptr<Kernel>> make_attention_kernel(const Runtime& runtime,
                                                      const AttentionInputs& inputs,
                                                      const AttentionResults& results) {
  return make<Forward>(runtime, inputs, results);
}

Result<std::unique_ptr<Kernel>> make_attention_kernel(const Runtime& runtime,
                                                      const AttentionInputs& inputs,
                                                      const AttentionGradients& gradients) {
  return make<Backward>(runtime, inputs, gradients);
}

}  // namespace trainward::cpu
