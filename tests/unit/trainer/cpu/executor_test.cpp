// The executor against the reference interpreter, on random graphs that mix every operation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cpu/harness.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/graph/differentiate.hpp"

namespace trainward::cpu {
namespace {

using graph::Axes;
using graph::Builder;
using graph::Direction;
using graph::Element;
using graph::Graph;
using graph::Shape;
using graph::Value;
using graph::test::Draw;
using graph::test::Numbers;

// Grows a graph by random steps over values of random shapes, all kept within reach of ±8.
class RandomGraph {
 public:
  explicit RandomGraph(std::uint64_t seed) : draw_(seed) {}

  Graph make() {
    for (int i = 0; i < 3; ++i) pool_.push_back(b_.parameter("x", {Element::f32, shape()}));
    const std::int64_t steps = draw_.size(6, 24);
    for (std::int64_t i = 0; i < steps; ++i) pool_.push_back(bounded(step(pick())));
    std::vector<Value> outputs;
    for (std::int64_t i = draw_.size(1, 4); i > 0; --i) outputs.push_back(pick());
    Result<Graph> graph = b_.finish(outputs);
    EXPECT_TRUE(graph) << graph.error().what;
    return *graph;
  }
  Draw& draw() { return draw_; }

 private:
  Shape shape() {
    Shape result(static_cast<std::size_t>(draw_.size(0, 4)));
    for (std::int64_t& size : result) size = draw_.size(1, 6);
    return result;
  }
  Value pick() {
    const auto last = static_cast<std::int64_t>(pool_.size()) - 1;
    return pool_[static_cast<std::size_t>(draw_.size(0, last))];
  }
  std::int64_t rank(Value v) { return static_cast<std::int64_t>(b_.type(v).shape.size()); }
  // Something of the same shape: a value that has it, or one made to.
  Value partner(Value v) {
    for (int i = 0; i < 8; ++i) {
      const Value other = pick();
      if (b_.type(other) == b_.type(v)) return other;
    }
    const std::int64_t axes = rank(v);
    if (axes == 0) return b_.constant_like(draw_.number(-2, 2), v);
    const std::int64_t kept = draw_.size(0, axes - 1);
    const Value row = b_.sum(v, graph::other_axes(static_cast<std::size_t>(axes), {kept}));
    return b_.broadcast(b_.scale(row, 0.1), {kept}, b_.type(v).shape);
  }
  Value bounded(Value v) {
    return b_.max(b_.neg(b_.max(b_.neg(v), b_.constant_like(-8, v))), b_.constant_like(-8, v));
  }

  Value step(Value v) {
    const Shape s = b_.type(v).shape;
    const std::int64_t r = rank(v);
    switch (draw_.size(0, 13)) {
      case 0:
        return b_.exp(b_.scale(v, 0.25));
      case 1:
        return b_.log(b_.add(b_.mul(v, v), b_.constant_like(1, v)));
      case 2:
        return b_.rsqrt(b_.add(b_.mul(v, v), b_.constant_like(0.5, v)));
      case 3:
        return b_.add(v, partner(v));
      case 4:
        return b_.mul(v, b_.scale(partner(v), 0.3));
      case 5:
        return b_.div(v, b_.add(b_.sqrt(b_.mul(v, v)), b_.constant_like(1, v)));
      case 6:
        return b_.select(b_.compare(Direction::gt, v, partner(v)), v, b_.neg(v));
      case 7:
      case 8: {
        Axes axes;
        for (std::int64_t i = 0; i < r; ++i) {
          if (draw_.size(0, 1) == 1) axes.push_back(i);
        }
        return draw_.size(0, 1) == 1 ? b_.scale(b_.sum(v, axes), 0.3) : b_.maximum(v, axes);
      }
      case 9: {
        Axes order(static_cast<std::size_t>(r));
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
        for (std::size_t i = order.size(); i > 1; --i) {
          std::swap(
              order[i - 1],
              order[static_cast<std::size_t>(draw_.size(0, static_cast<std::int64_t>(i) - 1))]);
        }
        return b_.transpose(v, order);
      }
      case 10: {
        Axes start(s.size());
        Axes limit(s.size());
        for (std::size_t i = 0; i < s.size(); ++i) {
          start[i] = draw_.size(0, s[i] - 1);
          limit[i] = draw_.size(start[i] + 1, s[i]);
        }
        return b_.slice(v, start, limit);
      }
      case 11:
        return r == 0 ? b_.reshape(v, {1, 1}) : b_.concatenate({v, partner(v)}, r - 1);
      case 12: {
        if (r == 0) return v;
        const std::int64_t axis = draw_.size(0, r - 1);
        return b_.scale(b_.dot(v, partner(v), {{}, {}, {axis}, {axis}}), 0.2);
      }
      default:
        return b_.pad(v, Axes(s.size(), 1), Axes(s.size(), 0));
    }
  }

  Draw draw_;
  Builder b_;
  std::vector<Value> pool_;
};

class Executor : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Executor, AgreesWithTheReferenceOnRandomGraphs) {
  for (std::uint64_t seed = GetParam() * 100; seed < GetParam() * 100 + 100; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomGraph random(seed);
    const Graph graph = random.make();
    std::int64_t largest = 0;
    for (const graph::Node& node : graph.nodes) {
      largest = std::max(largest, graph::element_count(node.type.shape));
    }
    if (largest > 20000) continue;  // repeated products grow; the reference is slow
    std::vector<Numbers> inputs;
    for (const Value parameter : graph.parameters) {
      inputs.push_back(random.draw().numbers(graph.type(parameter).shape, -2, 2));
      for (double& x : inputs.back()) x = static_cast<double>(static_cast<float>(x));
    }
    const std::vector<Numbers> expected = graph::test::interpret(graph, inputs);
    for (const int threads : {1, 2}) {
      const auto outputs = test::execute(graph, threads, inputs);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        const Numbers got = test::numbers_of(outputs[k], Element::f32);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < got.size(); ++i) {
          const double slack = 2e-3 * (1 + std::abs(expected[k][i]));
          if (!(std::abs(got[i] - expected[k][i]) <= slack)) ++wrong;
        }
        // A comparison may fall the other way within rounding; nothing else may differ.
        EXPECT_LE(wrong * 50, got.size()) << "output " << k << ", " << threads << " threads";
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, Executor, ::testing::Range<std::uint64_t>(0, 5));

TEST(Executor, ComputesIdsAndPredicates) {
  Builder b;
  const Value ids = b.parameter("ids", {Element::i32, {2, 3}});
  const Value table = b.parameter("table", {Element::f32, {4, 2}});
  const Value rows = b.gather_rows(table, ids);
  const Value seen = b.iota({Element::i32, {2, 3}}, 1);
  const Value later = b.compare(Direction::ge, ids, seen);
  const Value sum = b.add(b.mul(ids, seen), b.sub(seen, ids));
  const Value back = b.scatter_add_rows(ids, rows, 3);
  const Graph graph =
      *b.finish(std::vector{rows, later, sum, b.convert(later, Element::f32), back});
  const std::vector<Numbers> inputs{{0, 3, 1, 9, -2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}};
  const auto outputs = test::execute(graph, 2, inputs);
  const std::vector<Numbers> expected = graph::test::interpret(graph, inputs);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_EQ(test::numbers_of(outputs[k], graph.type(graph.outputs[k]).element), expected[k]) << k;
  }
}

TEST(Executor, IntegerArithmeticWrapsLikeTheReference) {
  Draw draw(11);
  Builder b;
  const graph::Type type{Element::i32, {40}};
  const Value x = b.parameter("x", type);
  const Value y = b.parameter("y", type);
  const std::vector<Value> outputs{b.mul(x, y),        b.add(x, y),    b.sub(x, y),
                                   b.bit_xor(x, y),    b.bit_or(x, y), b.bit_and(x, y),
                                   b.shift_right(x, y)};
  const Graph graph = *b.finish(outputs);
  std::vector<Numbers> inputs(2);
  for (Numbers& input : inputs) {
    for (int i = 0; i < 40; ++i) {
      input.push_back(static_cast<double>(draw.size(INT32_MIN, INT32_MAX)));
    }
  }
  const auto results = test::execute(graph, 2, inputs);
  const std::vector<Numbers> expected = graph::test::interpret(graph, inputs);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_EQ(test::numbers_of(results[k], Element::i32), expected[k]) << k;
  }
}

// Every way an output can come about, overwritten and added up.
TEST(Executor, OutputsMayBeAddedToWhatIsThere) {
  Draw draw(12);
  Builder b;
  const Value x = b.parameter("x", {Element::f32, {40, 20}});
  const Value y = b.parameter("y", {Element::f32, {40, 20}});
  const Value ids = b.parameter("ids", {Element::i32, {40}});
  const Value product = b.dot(x, y, {{}, {}, {1}, {1}});
  const Value read_again = b.dot(x, y, {{}, {}, {0}, {0}});
  const std::vector<Value> outputs{b.neg(x),
                                   product,
                                   read_again,
                                   b.exp(b.scale(read_again, 0.01)),
                                   b.scatter_add_rows(ids, y, 7),
                                   b.sum(x, {0}),
                                   b.sum(y, {1}),
                                   b.transpose(x, {1, 0}),
                                   b.transpose(b.dot(x, x, {{}, {}, {0}, {0}}), {1, 0}),
                                   x,
                                   b.constant(3, {Element::f32, {5}})};
  const Graph graph = *b.finish(outputs);
  const std::vector<Numbers> inputs{draw.numbers({40, 20}, -1, 1), draw.numbers({40, 20}, -1, 1),
                                    draw.ids({40}, 8)};
  const auto plain = test::execute(graph, 2, inputs);
  for (const std::size_t first_sum : {std::size_t{0}, std::size_t{4}}) {
    const auto summed = test::execute(graph, 2, inputs, first_sum);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const Numbers before = test::numbers_of(plain[k], Element::f32);
      const Numbers after = test::numbers_of(summed[k], Element::f32);
      for (std::size_t i = 0; i < before.size(); ++i) {
        ASSERT_NEAR(after[i], before[i] + (k < first_sum ? 0 : 1), 1e-5) << "output " << k;
      }
    }
  }
}

TEST(Executor, OnlyRealNumbersAreAddedUp) {
  auto runtime = Runtime::create(1);
  Builder b;
  const Graph graph = *b.finish(std::vector{b.parameter("ids", {Element::i32, {2}})});
  const Result<Program> program = Program::compile(graph, **runtime, 0);
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error().what, ::testing::HasSubstr("output 0 is i32[2]"));
}

TEST(Executor, OutputsMayBeInputsConstantsViewsAndTwins) {
  Builder b;
  const Value v = b.parameter("x", {Element::f32, {2, 2}});
  const Value e = b.neg(v);
  const Value constant = b.constant(3, {Element::f32, {2}});
  const Value turned = b.transpose(v, {1, 0});
  const Value count = b.iota({Element::i32, {3}}, 0);
  const Graph graph = *b.finish(std::vector{v, constant, turned, e, e, count});
  const auto outputs = test::execute(graph, 1, {{1, 2, 3, 4}});
  EXPECT_EQ(test::numbers_of(outputs[0], Element::f32), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(test::numbers_of(outputs[1], Element::f32), (Numbers{3, 3}));
  EXPECT_EQ(test::numbers_of(outputs[2], Element::f32), (Numbers{1, 3, 2, 4}));
  EXPECT_EQ(outputs[3], outputs[4]);
  EXPECT_EQ(test::numbers_of(outputs[5], Element::i32), (Numbers{0, 1, 2}));
}

TEST(Executor, SameBitsEveryTimeWithTheSameThreads) {
  Draw draw(3);
  Builder b;
  const Value v = b.parameter("x", {Element::f32, {300, 70}});
  const Value w = b.parameter("w", {Element::f32, {70, 70}});
  const Value y = b.exp(b.scale(b.dot(v, w, {{}, {}, {1}, {0}}), 0.01));
  const Graph graph = *b.finish(std::vector{b.sum(y, {0}), b.sum(y, {1}), b.sum(y, {0, 1})});
  const std::vector<Numbers> inputs{draw.numbers({300, 70}, -1, 1), draw.numbers({70, 70}, -1, 1)};
  const auto first = test::execute(graph, 2, inputs);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(test::execute(graph, 2, inputs), first);
}

TEST(Executor, RefusesWhatItCannotCompute) {
  auto runtime = Runtime::create(1);
  ASSERT_TRUE(runtime);
  using Use = Value (*)(Builder&, Value packed, Value ids);
  for (const Use use :
       {Use([](Builder&b, Value x, Value) { return b.add(x, x); }),
        Use([](Builder&b, Value x, Value) {
          return b.pad(x, {1, 0}, {0, 0});
        }),
        Use([](Builder&b, Value x, Value) {
          return b.concatenate({x, x}, 0);
        }),
        Use([](Builder&b, Value x, Value) { return b.compare(Direction::lt, x, x); }),
        Use([](Builder&b, Value, Value) {
          return b.iota({Element::bf16, {2, 2}}, 0);
        })}) {
    Builder b;
    const Value packed = b.convert(b.parameter("x", {Element::f32, {2, 2}}), Element::bf16);
    const Value half = use(b, packed, b.parameter("ids", {Element::i32, {3}}));
    const Result<Program> program = Program::compile(*b.finish(std::vector{half}), **runtime);
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().kind, ErrorKind::usage);
    EXPECT_THAT(program.error().what, ::testing::HasSubstr("bf16[2,2]"));
  }
  Builder b;
  const Value sum = b.all_reduce(b.parameter("x", {Element::f32, {2}}), {2});
  const Result<Program> alone = Program::compile(*b.finish(std::vector{sum}), **runtime);
  ASSERT_FALSE(alone);
  EXPECT_THAT(alone.error().what, ::testing::HasSubstr("one device"));
  EXPECT_FALSE(Runtime::create(0));
}

}  // namespace
}  // namespace trainward::cpu
