// Every operation's gradient against central differences, in double precision, over random shapes.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "graph/reference.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/graph/differentiate.hpp"

namespace trainward::graph {
namespace {

using test::Draw;
using test::Numbers;

struct Case {
  const char* name;
  // Adds parameters named by what they may hold ("x" any sign, "positive", "ids.n") and returns the
  // operation's result.
  std::function<Value(Builder&, Draw&)> build;
};

void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }

Shape random_shape(Draw& draw, std::size_t rank) {
  Shape shape(rank);
  for (std::int64_t& size : shape) size = draw.size(1, 4);
  return shape;
}
Value x(Builder& b, Shape shape) { return b.parameter("x", {Element::f32, std::move(shape)}); }
Value positive(Builder& b, Shape shape) {
  return b.parameter("positive", {Element::f32, std::move(shape)});
}
Shape any_shape(Draw& draw) {
  return random_shape(draw, static_cast<std::size_t>(draw.size(0, 3)));
}

std::int64_t id_limit(const std::string& name) { return std::stoll(name.substr(4)); }

class Gradient : public ::testing::TestWithParam<Case> {};

TEST_P(Gradient, EqualsFiniteDifferences) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Draw draw(seed);
    Builder b;
    const Value y = GetParam().build(b, draw);
    // A random weighting makes the loss depend on every element in its own way.
    const Shape shape = b.type(y).shape;
    const Value weights = b.parameter("weights", {Element::f32, shape});
    Axes all(shape.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    const Value loss = b.sum(b.mul(y, weights), all);
    ASSERT_FALSE(b.error()) << b.error()->what;
    std::vector<Value> wrt;
    std::vector<Numbers> inputs;
    const std::vector<Value> parameters = b.graph().parameters;
    std::vector<std::size_t> which;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      const std::string name = std::get<op::Parameter>(b.graph().node(parameters[k]).op).name;
      const Type type = b.type(parameters[k]);
      if (type.element == Element::i32) {
        inputs.push_back(draw.ids(type.shape, id_limit(name)));
        continue;
      }
      inputs.push_back(draw.numbers(type.shape, name == "positive" ? 0.5 : -1.5, 1.5));
      wrt.push_back(parameters[k]);
      which.push_back(k);
    }
    std::vector<Value> outputs = differentiate(b, loss, wrt);
    outputs.push_back(loss);
    const Result<Graph> graph = b.finish(outputs);
    ASSERT_TRUE(graph) << graph.error().what;
    const std::vector<Numbers> results = test::interpret(*graph, inputs);
    constexpr double h = 1e-5;
    for (std::size_t i = 0; i < wrt.size(); ++i) {
      ASSERT_EQ(graph->type(graph->outputs[i]), b.type(wrt[i]));
      for (std::size_t e = 0; e < inputs[which[i]].size(); ++e) {
        const auto loss_at = [&](double shift) {
          std::vector<Numbers> moved = inputs;
          moved[which[i]][e] += shift;
          return test::interpret(*graph, moved).back()[0];
        };
        const double slope = (loss_at(h) - loss_at(-h)) / (2 * h);
        EXPECT_NEAR(results[i][e], slope, 1e-6 * (1 + std::abs(slope)));
      }
    }
  }
}

Value random_dot(Builder& b, Draw& draw) {
  // Sizes per kind of axis, then both operands' axes in a random order.
  std::vector<std::pair<char, std::int64_t>> kinds;
  for (const char kind : {'b', 'm', 'n', 'k'}) {
    for (std::int64_t i = draw.size(0, 2); i > 0; --i) kinds.emplace_back(kind, draw.size(1, 3));
  }
  op::DotGeneral dot;
  const auto operand = [&](char free, Axes& batch, Axes& contract) {
    std::vector<std::size_t> axes;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (kinds[i].first == 'b' || kinds[i].first == 'k' || kinds[i].first == free) {
        axes.push_back(i);
      }
    }
    for (std::size_t i = axes.size(); i > 1; --i) {
      std::swap(axes[i - 1],
                axes[static_cast<std::size_t>(draw.size(0, static_cast<std::int64_t>(i) - 1))]);
    }
    Shape shape;
    for (const std::size_t axis : axes) shape.push_back(kinds[axis].second);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      for (std::size_t p = 0; p < axes.size(); ++p) {
        if (axes[p] != i) continue;
        if (kinds[i].first == 'b') batch.push_back(static_cast<std::int64_t>(p));
        if (kinds[i].first == 'k') contract.push_back(static_cast<std::int64_t>(p));
      }
    }
    return x(b, shape);
  };
  const Value lhs = operand('m', dot.lhs_batch, dot.lhs_contract);
  const Value rhs = operand('n', dot.rhs_batch, dot.rhs_contract);
  return b.dot(lhs, rhs, dot);
}

Axes random_axes(Draw& draw, std::size_t rank) {
  Axes axes;
  for (std::size_t i = 0; i < rank; ++i) {
    if (draw.size(0, 1) == 1) axes.push_back(static_cast<std::int64_t>(i));
  }
  return axes;
}

Value random_broadcast(Builder& b, Draw& draw) {
  const Shape shape = random_shape(draw, 3);
  const Axes axes = random_axes(draw, 3);
  Shape from;
  for (const std::int64_t axis : axes) from.push_back(shape[static_cast<std::size_t>(axis)]);
  return b.broadcast(x(b, from), axes, shape);
}

Value random_transpose(Builder& b, Draw& draw) {
  Axes order{0, 1, 2};
  std::swap(order[0], order[static_cast<std::size_t>(draw.size(0, 2))]);
  std::swap(order[1], order[static_cast<std::size_t>(draw.size(1, 2))]);
  return b.transpose(x(b, random_shape(draw, 3)), order);
}

Value random_slice(Builder& b, Draw& draw) {
  const Shape shape = random_shape(draw, 3);
  Axes start(3);
  Axes limit(3);
  for (std::size_t i = 0; i < 3; ++i) {
    start[i] = draw.size(0, shape[i] - 1);
    limit[i] = draw.size(start[i] + 1, shape[i]);
  }
  return b.slice(x(b, shape), start, limit);
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"negate", [](Builder& b, Draw& d) { return b.neg(x(b, any_shape(d))); }},
      {"exponential", [](Builder& b, Draw& d) { return b.exp(x(b, any_shape(d))); }},
      {"log", [](Builder& b, Draw& d) { return b.log(positive(b, any_shape(d))); }},
      {"sqrt", [](Builder& b, Draw& d) { return b.sqrt(positive(b, any_shape(d))); }},
      {"rsqrt", [](Builder& b, Draw& d) { return b.rsqrt(positive(b, any_shape(d))); }},
      {"tanh", [](Builder& b, Draw& d) { return b.tanh(x(b, any_shape(d))); }},
      {"add",
       [](Builder& b, Draw& d) {
         const Shape s = any_shape(d);
         return b.add(x(b, s), x(b, s));
       }},
      {"subtract",
       [](Builder& b, Draw& d) {
         const Shape s = any_shape(d);
         return b.sub(x(b, s), x(b, s));
       }},
      {"multiply",
       [](Builder& b, Draw& d) {
         const Shape s = any_shape(d);
         return b.mul(x(b, s), x(b, s));
       }},
      {"square",
       [](Builder& b, Draw& d) {
         const Value v = x(b, any_shape(d));
         return b.mul(v, v);
       }},
      {"divide",
       [](Builder& b, Draw& d) {
         const Shape s = any_shape(d);
         return b.div(x(b, s), positive(b, s));
       }},
      {"maximum",
       [](Builder& b, Draw& d) {
         const Shape s = any_shape(d);
         return b.max(x(b, s), x(b, s));
       }},
      {"select",
       [](Builder& b, Draw& d) {
         const Shape s = any_shape(d);
         const Value p = x(b, s);
         return b.select(b.compare(Direction::lt, p, b.constant_like(0.2, p)), x(b, s), x(b, s));
       }},
      {"convert", [](Builder& b, Draw& d) { return b.convert(x(b, any_shape(d)), Element::f32); }},
      {"reduce_sum",
       [](Builder& b, Draw& d) { return b.sum(x(b, random_shape(d, 3)), random_axes(d, 3)); }},
      {"reduce_maximum",
       [](Builder& b, Draw& d) { return b.maximum(x(b, random_shape(d, 3)), random_axes(d, 3)); }},
      {"broadcast", random_broadcast},
      {"reshape",
       [](Builder& b, Draw& d) {
         const Shape s = random_shape(d, 3);
         return b.reshape(x(b, s), {s[2], s[0] * s[1]});
       }},
      {"transpose", random_transpose},
      {"slice", random_slice},
      {"pad",
       [](Builder& b, Draw& d) {
         return b.pad(x(b, random_shape(d, 2)), {d.size(0, 2), d.size(0, 2)},
                      {d.size(0, 2), d.size(0, 2)});
       }},
      {"concatenate",
       [](Builder& b, Draw& d) {
         const Shape s = random_shape(d, 2);
         return b.concatenate({x(b, s), x(b, {s[0], d.size(1, 3)}), x(b, s)}, 1);
       }},
      {"dot_general", random_dot},
      {"gather",
       [](Builder& b, Draw& d) {
         const Value ids = b.parameter("ids.5", {Element::i32, any_shape(d)});
         return b.gather_rows(x(b, {4, d.size(1, 3)}), ids);  // id 4 reads row 3
       }},
      {"scatter",
       [](Builder& b, Draw& d) {
         Shape s = any_shape(d);
         const Value ids = b.parameter("ids.5", {Element::i32, s});
         s.push_back(3);
         return b.scatter_add_rows(ids, x(b, s), 4);  // id 4 is outside and adds nothing
       }},
      {"all_reduce",
       [](Builder& b, Draw& d) {
         const Value sum = b.all_reduce(x(b, any_shape(d)), {d.size(1, 4), d.size(1, 3)});
         return b.mul(sum, sum);
       }},
      {"iota_and_constant",
       [](Builder& b, Draw& d) {
         const Value v = x(b, random_shape(d, 2));
         return b.mul(b.iota(b.type(v), 1), b.mul(v, b.constant_like(0.5, v)));
       }},
  };
  return all;
}

INSTANTIATE_TEST_SUITE_P(Operations, Gradient, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Differentiate, HeldValuesAreConstants) {
  Builder b;
  const Value v = b.parameter("x", {Element::f32, {}});
  const Value held = b.hold(b.exp(v));
  const std::vector<Value> gradient = differentiate(b, b.mul(v, held), std::vector{v});
  const double result = test::interpret(*b.finish(gradient), {{0.7}})[0][0];
  EXPECT_DOUBLE_EQ(result, std::exp(0.7));
}

TEST(Differentiate, ReluHasSlopeZeroAtZero) {
  Builder b;
  const Value v = b.parameter("x", {Element::f32, {}});
  const Value y = b.max(v, b.constant_like(0, v));
  const std::vector<Value> gradient = differentiate(b, y, std::vector{v});
  EXPECT_EQ(test::interpret(*b.finish(gradient), {{0.0}})[0][0], 0.0);
}

TEST(Differentiate, UnusedInputsGetZeros) {
  Builder b;
  const Value v = b.parameter("x", {Element::f32, {}});
  const Value unused = b.parameter("unused", {Element::f32, {3}});
  const std::vector<Value> gradient = differentiate(b, v, std::vector{unused});
  EXPECT_EQ(test::interpret(*b.finish(gradient), {{1.0}, {1, 2, 3}})[0], (Numbers{0, 0, 0}));
}

}  // namespace
}  // namespace trainward::graph
