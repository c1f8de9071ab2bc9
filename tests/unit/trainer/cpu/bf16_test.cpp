// bf16 on the executor: conversions, storage of two bytes an element, and products.
#include "common/base/bf16.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "cpu/harness.hpp"
#include "cpu/tile_tables.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/graph/differentiate.hpp"
#include "trainer/graph/passes.hpp"
#include "trainer/graph/products.hpp"

namespace trainward::cpu {
namespace {

using graph::Axes;
using graph::Builder;
using graph::Element;
using graph::Graph;
using graph::Precision;
using graph::Shape;
using graph::Value;
using graph::test::Draw;
using graph::test::Numbers;
using graph::test::rounded_to_bf16;
using test::Table;
using test::tables;

template <typename To, typename From>
std::vector<To> apply(Table table, TileOp op, const std::vector<From>& x) {
  std::vector<To> y(x.size());
  const Lane lane{x.data(), 1};
  table(op)(y.data(), &lane, static_cast<std::ptrdiff_t>(x.size()));
  return y;
}

TEST(Bf16, EveryPatternWidensExactlyAndComesBack) {
  std::vector<std::uint16_t> patterns(1 << 16);
  for (std::size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<std::uint16_t>(i);
  for (const Table table : tables()) {
    EXPECT_EQ((apply<std::uint16_t>(table, TileOp::copy_bf16, patterns)), patterns);
    const auto wide = apply<float>(table, TileOp::from_bf16, patterns);
    const auto back = apply<std::uint16_t>(table, TileOp::to_bf16, wide);
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      // A sign, eight bits of exponent and seven of fraction, by arithmetic.
      const auto exponent = static_cast<int>(i >> 7 & 0xff);
      const auto fraction = static_cast<double>(i & 0x7f) / 128;
      const double size =
          exponent == 0 ? std::ldexp(fraction, -126) : std::ldexp(1 + fraction, exponent - 127);
      if (exponent == 0xff && fraction != 0) {
        EXPECT_TRUE(std::isnan(wide[i]));
        EXPECT_EQ(back[i], i | 0x40) << i;  // quiet, and otherwise itself
        continue;
      }
      EXPECT_EQ(back[i], i);
      EXPECT_EQ(std::signbit(wide[i]), i >= 0x8000);
      const double expected = exponent == 0xff ? std::numeric_limits<double>::infinity() : size;
      EXPECT_EQ(std::abs(static_cast<double>(wide[i])), expected) << i;
    }
  }
}

TEST(Bf16, RoundsAnyFloatToTheNearest) {
  Draw draw(31);
  std::vector<float> values;
  for (int i = 0; i < 300'000; ++i) {  // any bits: NaNs, infinities and denormals among them
    auto bits = static_cast<std::uint32_t>(draw.size(0, UINT32_MAX));
    if (i % 3 == 0) bits = (bits & 0xffff0000U) | static_cast<std::uint32_t>(0x8000 + i % 5 - 2);
    if (i % 7 == 0) bits &= 0x807fffffU;
    if (i % 11 == 0) bits |= 0x7f000000U;
    values.push_back(__builtin_bit_cast(float, bits));
  }
  for (const float special :
       {0.0F, -0.0F, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::max(),
        std::numeric_limits<float>::denorm_min()}) {
    values.push_back(special);
  }
  for (const Table table : tables()) {
    const auto got = apply<std::uint16_t>(table, TileOp::to_bf16, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float rounded = float_from_bf16(got[i]);
      if (std::isnan(values[i])) {
        EXPECT_TRUE(std::isnan(rounded));
        continue;
      }
      ASSERT_EQ(static_cast<double>(rounded), rounded_to_bf16(static_cast<double>(values[i])));
      ASSERT_EQ(std::signbit(rounded), std::signbit(values[i]));
    }
  }
}

// Values that are rounded, looked at and moved about in every way, as outputs and between kernels.
class RandomStorage {
 public:
  explicit RandomStorage(std::uint64_t seed) : draw_(seed) {}

  Graph make() {
    pool_.push_back(b_.parameter("packed", {Element::bf16, {4, 6}}));
    for (const Shape& shape : {Shape{4, 6}, Shape{3, 4, 2}, Shape{}}) {
      const Value x = b_.parameter("x", {Element::f32, shape});
      pool_.push_back(b_.convert(draw_.size(0, 1) == 0 ? x : b_.scale(x, 3), Element::bf16));
    }
    pool_.push_back(
        b_.convert(b_.constant(draw_.number(-2, 2), {Element::f32, {6, 4}}), Element::bf16));
    std::vector<Value> outputs;
    for (int i = 0; i < 12; ++i) {
      const Value v = step(pick());
      pool_.push_back(v);
      if (draw_.size(0, 2) == 0) outputs.push_back(v);
      if (draw_.size(0, 2) == 0) outputs.push_back(b_.convert(v, Element::f32));
    }
    // Read back, computed with and rounded again, in one loop.
    const Value sum = b_.neg(b_.convert(pick(), Element::f32));
    outputs.push_back(b_.convert(b_.max(sum, b_.scale(sum, 0.3)), Element::bf16));
    outputs.push_back(pick());
    return *b_.finish(outputs);
  }
  Draw& draw() { return draw_; }

 private:
  Value pick() {
    const auto last = static_cast<std::int64_t>(pool_.size()) - 1;
    return pool_[static_cast<std::size_t>(draw_.size(0, last))];
  }
  Value step(Value v) {
    const Shape shape = b_.type(v).shape;
    const auto rank = static_cast<std::int64_t>(shape.size());
    switch (draw_.size(0, 5)) {
      case 0: {
        Axes order(shape.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
          order[i] = rank - 1 - static_cast<std::int64_t>(i);
        }
        return b_.transpose(v, order);
      }
      case 1: {
        Axes start(shape.size());
        for (std::size_t i = 0; i < shape.size(); ++i) start[i] = draw_.size(0, shape[i] - 1);
        return b_.slice(v, start, shape);
      }
      case 2:
        return b_.reshape(v, {graph::element_count(shape)});
      case 3: {
        if (graph::element_count(shape) > 200) return v;
        Axes axes(shape.size());
        for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i) + 1;
        Shape wider = shape;
        wider.insert(wider.begin(), 2);
        return b_.broadcast(v, axes, wider);
      }
      case 4: {  // one value a row, read beside the row
        if (rank == 0) return v;
        Axes rows(shape.size() - 1);
        std::iota(rows.begin(), rows.end(), std::int64_t{0});
        const Value wide = b_.convert(v, Element::f32);
        const Value largest = b_.convert(b_.maximum(wide, {rank - 1}), Element::bf16);
        const Value spread = b_.broadcast(b_.convert(largest, Element::f32), rows, shape);
        return draw_.size(0, 1) == 0 ? largest : b_.convert(b_.max(wide, spread), Element::bf16);
      }
      default:
        return b_.convert(b_.exp(b_.scale(b_.convert(v, Element::f32), -0.1)), Element::bf16);
    }
  }

  Draw draw_;
  Builder b_;
  std::vector<Value> pool_;
};

TEST(Bf16, StoredValuesAreThoseOfTheReference) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomStorage random(seed);
    const Graph graph = random.make();
    std::vector<Numbers> inputs;
    for (const Value parameter : graph.parameters) {
      inputs.push_back(random.draw().numbers(graph.type(parameter).shape, -2, 2));
      for (double& x : inputs.back()) x = rounded_to_bf16(x);
    }
    const std::vector<Numbers> expected = graph::test::interpret(graph, inputs);
    for (const int threads : {1, 2}) {
      const auto outputs = test::execute(graph, threads, inputs);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        const Numbers got = test::numbers_of(outputs[k], graph.type(graph.outputs[k]).element);
        for (std::size_t i = 0; i < got.size(); ++i) {
          // An exponential that lies between two bf16 may fall either way; nothing else may.
          ASSERT_NEAR(got[i], expected[k][i], 0x1p-7 * std::abs(expected[k][i])) << "output " << k;
        }
      }
    }
  }
}

// A product in bf16 is the f32 product of operands that were rounded by hand.
// What an embedding that nobody trains is looked up by; of odd width, and from a part of the table.
TEST(Bf16, RowsAreGatheredAsTheyAreStored) {
  Builder b;
  const Value table = b.parameter("table", {Element::bf16, {6, 5}});
  const Value ids = b.parameter("ids", {Element::i32, {2, 3}});
  const Value part = b.slice(table, {1, 0}, {6, 5});
  const Graph graph = *b.finish(
      std::vector{b.convert(b.gather_rows(table, ids), Element::f32), b.gather_rows(part, ids)});
  Draw draw(3);
  const std::vector<Numbers> inputs{draw.numbers({6, 5}, -9, 9), {0, 4, 1, 2, 2, 3}};
  const auto got = test::execute(graph, 2, inputs);
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t column = 0; column < 5; ++column) {
      const auto at = [&](std::size_t first) {
        return rounded_to_bf16(
            inputs[0][(static_cast<std::size_t>(inputs[1][row]) + first) * 5 + column]);
      };
      EXPECT_EQ(test::numbers_of(got[0], Element::f32)[row * 5 + column], at(0));
      EXPECT_EQ(test::numbers_of(got[1], Element::bf16)[row * 5 + column], at(1));
    }
  }
}

TEST(Bf16, ProductsAreThoseOfRoundedOperands) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Draw draw(seed);
    const std::int64_t batch = draw.size(1, 3);
    const std::int64_t m = draw.size(1, 40);
    const std::int64_t n = draw.size(1, 40);
    const std::int64_t k = draw.size(1, 70);
    const bool turn_x = draw.size(0, 1) == 1;
    const bool turn_y = draw.size(0, 1) == 1;
    const auto make = [&](Precision precision) {
      Builder b(precision);
      Value x = b.parameter("x", {Element::f32, {batch, m, k}});
      Value y = b.parameter("y", {Element::f32, {k, batch, n}});
      if (turn_x) x = b.reshape(b.transpose(x, {0, 2, 1}), {batch, k, m});
      if (turn_y) y = b.transpose(y, {1, 2, 0});
      const Value product =
          b.dot(x, y, {{0}, {turn_y ? 0 : 1}, {turn_x ? 1 : 2}, {turn_y ? 2 : 0}});
      const std::vector<Value> gradients =
          graph::differentiate(b, b.sum(b.mul(product, product), {0, 1, 2}), std::vector{x, y});
      return *b.finish(std::vector{product, gradients[0], gradients[1]});
    };
    std::vector<Numbers> inputs{draw.numbers({batch, m, k}, -1, 1),
                                draw.numbers({k, batch, n}, -1, 1)};
    const auto packed = graph::pack_parameters(
        graph::simplify(graph::round_operands(make(Precision::bf16))), [](auto) { return true; });
    const auto direct = test::execute(make(Precision::bf16), 2, inputs);
    EXPECT_EQ(test::execute(packed, 2, inputs).front(), direct.front());
    for (Numbers& input : inputs) {
      for (double& x : input) x = rounded_to_bf16(static_cast<double>(static_cast<float>(x)));
    }
    EXPECT_EQ(test::execute(make(Precision::bf16), 2, inputs), direct);
    const auto by_hand = test::execute(make(Precision::f32), 2, inputs);
    const Numbers got = test::numbers_of(direct[0], Element::f32);
    const Numbers expected = test::numbers_of(by_hand[0], Element::f32);
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-5);
  }
}

// What one row is multiplied with is not widened first, but for another use of the wide one.
TEST(Bf16, OneRowReadsAMatrixAsItLies) {
  Draw draw(9);
  for (const std::int64_t rows : {1, 2}) {
    for (const bool wide_too : {false, true}) {
      Builder b;
      const Value x = b.parameter("x", {Element::f32, {1, rows, 70}});
      const Value packed = b.parameter("w", {Element::bf16, {33, 70}});
      const Value wide = b.convert(packed, Element::f32);
      std::vector<Value> outputs{b.neg(b.dot(x, wide, {{}, {}, {2}, {1}})),
                                 b.dot(x, b.convert(packed, Element::f32), {{}, {}, {2}, {1}})};
      if (wide_too) outputs.push_back(b.neg(wide));
      const Graph graph = *b.finish(outputs);
      const std::vector<Numbers> inputs{draw.numbers({1, rows, 70}, -1, 1), draw.ids({33, 70}, 9)};
      const auto expected = graph::test::interpret(graph, inputs);
      for (const int threads : {1, 3}) {
        const auto words = test::execute(graph, threads, inputs, 1);
        for (std::size_t k = 0; k < 2; ++k) {
          const Numbers found = test::numbers_of(words[k], Element::f32);
          for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_NEAR(found[i], expected[k][i] + (k == 1 ? 1 : 0), 2e-5);
          }
        }
      }
    }
  }
}

TEST(Bf16, ProductsAreAddedToWhatIsThere) {
  Draw draw(8);
  Builder b(Precision::bf16);
  const Value x = b.parameter("x", {Element::f32, {20, 30}});
  const Value w = b.parameter("w", {Element::bf16, {30, 10}});
  const Value product = b.dot(b.convert(x, Element::bf16), w, {{}, {}, {1}, {0}});
  const Graph graph = *b.finish(std::vector{product});
  const std::vector<Numbers> inputs{draw.numbers({20, 30}, -1, 1), draw.numbers({30, 10}, -1, 1)};
  const Numbers plain = test::numbers_of(test::execute(graph, 2, inputs)[0], Element::f32);
  const Numbers summed = test::numbers_of(test::execute(graph, 2, inputs, 0)[0], Element::f32);
  for (std::size_t i = 0; i < plain.size(); ++i) ASSERT_NEAR(summed[i], plain[i] + 1, 1e-5);
}

// Half of the memory for what lies between two kernels, beside a tile in the cache.
TEST(Bf16, TakesTwoBytesAnElement) {
  auto runtime = Runtime::create(1);
  ASSERT_TRUE(runtime);
  std::vector<std::size_t> sizes;
  for (const Element element : {Element::f32, Element::bf16}) {
    Builder b;
    const Value x = b.parameter("x", {Element::f32, {512, 512}});
    const Value between = b.convert(b.exp(x), element);
    const Value turned = b.convert(b.transpose(between, {1, 0}), Element::f32);
    const auto program = Program::compile(*b.finish(std::vector{b.neg(turned)}), **runtime);
    ASSERT_TRUE(program) << program.error().message();
    sizes.push_back(program->workspace_bytes());
  }
  EXPECT_LT(static_cast<double>(sizes[1]), 0.51 * static_cast<double>(sizes[0]));
}

}  // namespace
}  // namespace trainward::cpu
