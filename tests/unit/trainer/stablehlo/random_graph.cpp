#include "stablehlo/random_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "trainer/graph/builder.hpp"
#include "trainer/graph/passes.hpp"
#include "trainer/graph/products.hpp"

namespace trainward::stablehlo::test {
namespace {

namespace op = graph::op;
using graph::Axes;
using graph::Builder;
using graph::Element;
using graph::Shape;
using graph::Value;
using graph::test::Draw;

constexpr std::int64_t most_elements = 30'000;

class Maker {
 public:
  Maker(Draw& draw, bool sums_over_devices) : draw_(draw), sums_(sums_over_devices) {}

  graph::Graph make() {
    for (int i = 0; i < 3; ++i) values_.push_back(parameter(shape()));
    const auto steps = draw_.size(1, 12);
    for (std::int64_t i = 0; i < steps; ++i) {
      const Value value = step();
      if (!value.valid()) ADD_FAILURE() << b_.error()->message();
      if (!value.valid()) break;
      values_.push_back(value);
    }
    std::vector<Value> outputs{values_.back()};
    while (coin()) outputs.push_back(any());
    if (coin()) outputs.push_back(b_.convert(any(), Element::bf16));
    auto graph = b_.finish(outputs);
    EXPECT_TRUE(graph) << graph.error().message();
    return graph::simplify(graph::round_operands(*graph));
  }

 private:
  bool coin() { return draw_.size(0, 1) == 1; }
  std::size_t index(std::size_t count) {
    return static_cast<std::size_t>(draw_.size(0, static_cast<std::int64_t>(count) - 1));
  }
  Value any() { return values_[index(values_.size())]; }
  std::int64_t size() {
    constexpr std::int64_t sizes[] = {1, 2, 3, 4, 5, 8, 16, 31, 32, 33, 48, 64};
    return sizes[index(std::size(sizes))];
  }
  Shape shape() {
    Shape shape(static_cast<std::size_t>(draw_.size(0, 4)));
    for (std::int64_t& axis : shape) axis = size();
    while (graph::element_count(shape) > most_elements) {
      *std::max_element(shape.begin(), shape.end()) /= 2;
    }
    return shape;
  }
  const Shape& shape_of(Value value) { return b_.type(value).shape; }
  Value parameter(Shape shape, Element element = Element::f32) {
    return b_.parameter("p" + std::to_string(b_.graph().parameters.size()), {element, shape});
  }
  Axes some_axes(std::size_t rank) {
    Axes axes;
    for (std::size_t i = 0; i < rank; ++i) {
      if (coin()) axes.push_back(static_cast<std::int64_t>(i));
    }
    return axes;
  }
  std::vector<std::int64_t> shuffled(std::size_t rank) {
    Axes axes(rank);
    for (std::size_t i = 0; i < rank; ++i) axes[i] = static_cast<std::int64_t>(i);
    for (std::size_t i = rank; i > 1; --i) std::swap(axes[i - 1], axes[index(i)]);
    return axes;
  }

  Value step() {
    switch (draw_.size(0, sums_ ? 18 : 17)) {
      case 0:
        return b_.tanh(any());
      case 1:
        return b_.neg(b_.rsqrt(b_.exp(b_.tanh(any()))));
      case 2:
        return b_.sqrt(b_.mul(b_.constant_like(0.25, values_[0]), b_.exp(b_.tanh(values_[0]))));
      case 3: {
        const Value a = any();
        return b_.max(b_.sub(a, b_.constant_like(draw_.number(-1, 1), a)), b_.scale(a, 0.3));
      }
      case 4: {
        const Value a = any();
        const Value c = b_.add(a, parameter(shape_of(a)));
        return b_.select(b_.compare(coin() ? graph::Direction::lt : graph::Direction::ge, a, c), a,
                         c);
      }
      case 5:
      case 6: {
        const Value a = any();
        Axes axes = some_axes(shape_of(a).size());
        if (coin()) return b_.maximum(a, axes);
        const Value sum = b_.sum(a, axes);
        return b_.scale(sum, static_cast<double>(graph::element_count(shape_of(sum))) /
                                 static_cast<double>(graph::element_count(shape_of(a))));
      }
      case 7:
        return broadcast();
      case 8: {
        const Value a = any();
        return b_.reshape(a, other_shape(shape_of(a)));
      }
      case 9: {
        const Value a = any();
        return b_.transpose(a, shuffled(shape_of(a).size()));
      }
      case 10:
        return slice();
      case 11: {
        const Value a = any();
        if (graph::element_count(shape_of(a)) > 2000) return b_.neg(a);
        Axes low;
        Axes high;
        for (std::size_t i = 0; i < shape_of(a).size(); ++i) {
          low.push_back(draw_.size(0, 2));
          high.push_back(draw_.size(0, 2));
        }
        return b_.pad(a, low, high);
      }
      case 12: {
        const Value a = any();
        if (shape_of(a).empty() || graph::element_count(shape_of(a)) > 9000) return b_.neg(a);
        return b_.concatenate({a, b_.tanh(a)},
                              static_cast<std::int64_t>(index(shape_of(a).size())));
      }
      case 13: {
        const Value table = parameter({draw_.size(2, 9), size()});
        return b_.gather_rows(table, ids({draw_.size(1, 6), draw_.size(1, 6)}));
      }
      case 14: {
        const Value where = ids({draw_.size(1, 9)});
        const Value rows = parameter({shape_of(where)[0], size()});
        return b_.tanh(b_.scatter_add_rows(where, rows, draw_.size(2, 40)));
      }
      case 15:
        return hash();
      case 16:
      case 17:
        return dot();
      default:
        return b_.append(op::AllReduce{2}, {any()});
    }
  }

  Value ids(Shape shape) { return parameter(std::move(shape), Element::i32); }

  Value broadcast() {
    const Value a = any();
    Shape to = shape_of(a);
    if (graph::element_count(to) * 5 > most_elements || to.size() > 4) return b_.tanh(a);
    const std::size_t at = index(to.size() + 1);
    to.insert(to.begin() + static_cast<std::ptrdiff_t>(at), draw_.size(1, 5));
    Axes axes;
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (i != at) axes.push_back(static_cast<std::int64_t>(i));
    }
    return b_.broadcast(a, axes, to);
  }

  // The same number of elements: axes joined, split, or of size one put in.
  Shape other_shape(Shape shape) {
    for (int turn = 0; turn < 3; ++turn) {
      const std::size_t at = shape.empty() ? 0 : index(shape.size());
      if (shape.size() > 1 && at + 1 < shape.size() && coin()) {
        shape[at] *= shape[at + 1];
        shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      } else if (!shape.empty() && shape.size() < 5) {
        const std::int64_t factor = shape[at] % 8 == 0 ? 8 : shape[at] % 3 == 0 ? 3 : 1;
        shape[at] /= factor;
        shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), factor);
      } else if (shape.empty()) {
        shape.push_back(1);
      }
    }
    return shape;
  }

  Value slice() {
    const Value a = any();
    Axes start;
    Axes limit;
    for (const std::int64_t size : shape_of(a)) {
      start.push_back(draw_.size(0, size - 1));
      limit.push_back(draw_.size(start.back() + 1, size));
    }
    return b_.slice(a, start, limit);
  }

  Value hash() {
    const Value a = ids({draw_.size(1, 5), draw_.size(1, 40)});
    const Value counted = b_.mul(b_.iota(b_.type(a), coin() ? 0 : 1), b_.add(a, a));
    const Value count = coin() ? b_.constant_like(static_cast<double>(draw_.size(0, 40)), a)
                               : b_.bit_or(a, b_.constant_like(32, a));
    const Value mixed = b_.bit_xor(b_.shift_right(counted, count), b_.bit_and(a, counted));
    return b_.tanh(b_.convert(mixed, Element::f32));
  }

  // With a parameter, or with a value that fits after all.
  Value dot() {
    const Value lhs = any();
    op::DotGeneral dot;
    Shape rhs;
    for (const std::int64_t axis : shuffled(shape_of(lhs).size())) {
      const std::int64_t role = draw_.size(0, 2);
      if (role == 0) continue;
      (role == 1 ? dot.lhs_batch : dot.lhs_contract).push_back(axis);
    }
    const auto append = [&](std::int64_t size) {
      rhs.push_back(size);
      return static_cast<std::int64_t>(rhs.size()) - 1;
    };
    std::int64_t free = 1;
    const auto maybe_free = [&] {
      if (!coin()) return;
      const std::int64_t more = size();
      if (graph::element_count(shape_of(lhs)) * free * more > 40 * most_elements) return;
      free *= more;
      append(more);
    };
    maybe_free();
    std::int64_t contracted = 1;
    for (const std::int64_t axis : dot.lhs_batch) {
      dot.rhs_batch.push_back(append(shape_of(lhs)[static_cast<std::size_t>(axis)]));
    }
    for (const std::int64_t axis : dot.lhs_contract) {
      const std::int64_t size = shape_of(lhs)[static_cast<std::size_t>(axis)];
      dot.rhs_contract.push_back(append(size));
      contracted *= size;
    }
    if (graph::element_count(rhs) > 20 * most_elements) return b_.tanh(lhs);
    maybe_free();
    if (draw_.size(0, 3) == 0) dot.precision = graph::Precision::bf16;
    const Value product = b_.append(dot, {lhs, parameter(rhs)});
    if (graph::element_count(shape_of(product)) > most_elements) return b_.tanh(lhs);
    return b_.scale(product, 1 / std::sqrt(static_cast<double>(contracted)));
  }

  Draw& draw_;
  bool sums_;
  Builder b_;
  std::vector<Value> values_;
};

}  // namespace

graph::Graph random_graph(Draw& draw, bool sums_over_devices) {
  return Maker(draw, sums_over_devices).make();
}

}  // namespace trainward::stablehlo::test
