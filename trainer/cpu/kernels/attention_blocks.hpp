// What both directions of attention share: blocks of queries, products of one thread, shares.
//
// A kernel of this kind hands each thread some of the groups (heads that share keys and values) of
// the batch, and memory of its own. Errors: the constructor's products throw dnnl::error.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "trainer/cpu/kernels/attention_kernel.hpp"
#include "trainer/cpu/kernels/product.hpp"
#include "trainer/cpu/kernels/tile_kernels.hpp"

namespace trainward::cpu {

// One tile operation over runs of f32, or between them and bf16.
class Tiles {
 public:
  void scale(float* x, float by, std::int64_t n) const {
    binary(multiply_, x, {x, 1}, {&by, 0}, n);
  }
  [[nodiscard]] float largest(const float* x, std::int64_t n) const {
    return reduced(maximum_, x, n);
  }
  void store(void* out, graph::Element element, const float* x, std::int64_t n) const {
    unary(element == graph::Element::bf16 ? to_bf16_ : copy_, out, x, n);
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
// Dense but for the stride of its rows.
Matrix matrix(std::int64_t rows, std::int64_t columns, std::int64_t row_stride);
Matrix transposed(const Matrix& x);

// a · b; `row_stride`: of the result.
Product product(const Runtime& runtime, graph::Element element, const Matrix& a, const Matrix& b,
                std::int64_t row_stride, bool add = false);

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

class AttentionKernel : public Kernel {
 public:
  AttentionKernel(const Runtime& runtime, const AttentionInputs& inputs);

  [[nodiscard]] std::size_t scratch_bytes() const override {
    return scratch_each_ * static_cast<std::size_t>(threads_);
  }

  void run(Addresses addresses) const final;

 protected:
  // All of one batch entry's group.
  virtual void work(Addresses addresses, int thread, std::byte* own, std::int64_t batch,
                    std::int64_t group) const = 0;

  using Maker = std::function<std::vector<Product>(const Block&)>;
  // For each thread its own, of one thread: they run inside a parallel region.
  void make_products(const Runtime& runtime, const Maker& make);
  // Room in each thread's memory, in bytes.
  std::size_t take(std::size_t bytes) {
    return std::exchange(scratch_each_, scratch_each_ + aligned(bytes));
  }
  std::size_t take_floats(std::int64_t n) {
    return take(static_cast<std::size_t>(n) * sizeof(float));
  }
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

  // Calls work(row, r, n) for each row of a block's products of queries and keys. A share is the
  // exponential of a score times `factor_`. Of the first n places, those that the query must not
  // see have no share; the places behind them become zeros afterwards.
  template <typename Work>
  void for_each_row(Addresses addresses, std::int64_t batch, const Block& block, float* scores,
                    const Work& work) const {
    for (std::int64_t r = 0; r < block.rows; ++r) {
      float* row = scores + r * block.keys;
      const std::int64_t whole = worked_on(block.first + r + 1, block);
      hide(addresses, batch, block, r, row);
      work(row, r, whole);
      std::fill(row + whole, row + block.keys, 0.0F);
    }
  }

  // All positions of a head, turned to [width, positions]: products read it faster than as it lies.
  void* turned(Addresses addresses, const AttentionOperand& operand, std::int64_t batch,
               std::int64_t head, std::int64_t width, std::byte* to) const;

  // As an operand of a product: itself, or rounded into `low`.
  void* operand(float* x, std::byte* low, std::int64_t n) const {
    if (sizes_.element == graph::Element::f32) return x;
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

  AttentionInputs inputs_;
  AttentionSizes sizes_;
  int threads_;
  float factor_;
  std::vector<Block> blocks_;
  Tiles tiles_;
  ShareLoops loops_ = share_loops();

 private:
  void hide(Addresses addresses, std::int64_t batch, const Block& block, std::int64_t r,
            float* row) const;

  std::vector<std::vector<std::vector<Product>>> products_;  // [thread][block]
  std::size_t scratch_each_ = 0, library_bytes_ = 0, library_ = 0;
};

// The place of queries · keys among the products of a block.
inline constexpr std::size_t scores_product = 0;

// `Made` is one of the two kernels, made from what the public function takes.
template <typename Made, typename Wanted>
Result<std::unique_ptr<Kernel>> make_attention(const Runtime& runtime,
                                               const AttentionInputs& inputs,
                                               const Wanted& wanted) {
  try {
    return std::make_unique<Made>(runtime, inputs, wanted);
  } catch (const dnnl::error& error) {
    runtime.apply();
    return fail(ErrorKind::permanent,
                fmt::format("oneDNN refuses a product of attention: {}", error.what()));
  }
}

}  // namespace trainward::cpu
