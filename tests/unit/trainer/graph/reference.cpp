#include "graph/reference.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace trainward::graph::test {
namespace {

using Index = Shape;

std::size_t flat(const Shape& shape, const Index& index) {
  std::int64_t position = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) position = position * shape[i] + index[i];
  return static_cast<std::size_t>(position);
}

void for_each(const Shape& shape, const std::function<void(const Index&)>& visit) {
  Index index(shape.size(), 0);
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    visit(index);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

std::int64_t at(const Index& index, std::int64_t axis) {
  return index[static_cast<std::size_t>(axis)];
}

class Evaluation {
 public:
  Evaluation(const Graph& graph, const std::vector<Numbers>& parameters)
      : graph_(graph), values_(graph.nodes.size()) {
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      values_[graph.parameters[k].index()] = parameters[k];
    }
  }

  std::vector<Numbers> run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      node_ = &graph_.nodes[i];
      if (std::holds_alternative<op::Parameter>(node_->op)) continue;
      result_.assign(static_cast<std::size_t>(element_count(node_->type.shape)), 0.0);
      std::visit(*this, node_->op);
      values_[i] = result_;
    }
    std::vector<Numbers> outputs;
    for (const Value output : graph_.outputs) outputs.push_back(values_[output.index()]);
    return outputs;
  }

  void operator()(const op::Parameter&) {}
  void operator()(const op::Constant& constant) { result_.assign(result_.size(), constant.value); }
  void operator()(const op::Iota& iota) {
    each([&](const Index& i) { return static_cast<double>(at(i, iota.axis)); });
  }
  void operator()(const op::Unary& unary) {
    map([&](double x) {
      switch (unary.kind) {
        case UnaryKind::negate:
          return -x;
        case UnaryKind::exponential:
          return std::exp(x);
        case UnaryKind::log:
          return std::log(x);
        case UnaryKind::sqrt:
          return std::sqrt(x);
        case UnaryKind::rsqrt:
          return 1 / std::sqrt(x);
        case UnaryKind::tanh:
          return std::tanh(x);
      }
      return x;
    });
  }
  void operator()(const op::Binary& binary) {
    if (node_->type.element == Element::i32) return of_integers(binary.kind);
    for (std::size_t i = 0; i < result_.size(); ++i) {
      const double a = in(0)[i];
      const double b = in(1)[i];
      switch (binary.kind) {
        case BinaryKind::add:
          result_[i] = a + b;
          break;
        case BinaryKind::subtract:
          result_[i] = a - b;
          break;
        case BinaryKind::multiply:
          result_[i] = a * b;
          break;
        case BinaryKind::divide:
          result_[i] = a / b;
          break;
        case BinaryKind::maximum:
          result_[i] = std::max(a, b);
          break;
        case BinaryKind::bit_and:
        case BinaryKind::bit_or:
        case BinaryKind::bit_xor:
        case BinaryKind::shift_right_logical:
          break;
      }
    }
  }
  void of_integers(BinaryKind kind) {
    for (std::size_t i = 0; i < result_.size(); ++i) {
      const auto a = static_cast<std::uint32_t>(static_cast<std::int64_t>(in(0)[i]));
      const auto b = static_cast<std::uint32_t>(static_cast<std::int64_t>(in(1)[i]));
      const auto result = [&]() -> std::uint32_t {
        switch (kind) {
          case BinaryKind::add:
            return a + b;
          case BinaryKind::subtract:
            return a - b;
          case BinaryKind::multiply:
            return a * b;
          case BinaryKind::divide:
            return 0;
          case BinaryKind::maximum:
            return in(0)[i] > in(1)[i] ? a : b;
          case BinaryKind::bit_and:
            return a & b;
          case BinaryKind::bit_or:
            return a | b;
          case BinaryKind::bit_xor:
            return a ^ b;
          case BinaryKind::shift_right_logical:
            return a >> (b % 32);
        }
        return 0;
      }();
      result_[i] = static_cast<double>(static_cast<std::int32_t>(result));
    }
  }
  void operator()(const op::Compare& compare) {
    for (std::size_t i = 0; i < result_.size(); ++i) {
      const double a = in(0)[i];
      const double b = in(1)[i];
      const bool holds[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
      result_[i] = holds[static_cast<std::size_t>(compare.direction)] ? 1 : 0;
    }
  }
  void operator()(const op::Select&) {
    for (std::size_t i = 0; i < result_.size(); ++i) {
      result_[i] = in(0)[i] != 0 ? in(1)[i] : in(2)[i];
    }
  }
  void operator()(const op::Convert& convert) {
    map([&](double x) {
      if (convert.element == Element::pred) return x != 0 ? 1.0 : 0.0;
      if (convert.element == Element::bf16) return rounded_to_bf16(x);
      return convert.element == Element::i32 ? std::trunc(x) : x;
    });
  }
  void operator()(const op::Reduce& reduce) {
    const Shape& from = shape(0);
    const bool sum = reduce.kind == ReduceKind::sum;
    if (!sum) result_.assign(result_.size(), -std::numeric_limits<double>::infinity());
    const Axes kept = other_axes(from.size(), reduce.axes);
    for_each(from, [&](const Index& i) {
      Index target;
      for (const std::int64_t axis : kept) target.push_back(at(i, axis));
      double& slot = result_[flat(node_->type.shape, target)];
      const double x = in(0)[flat(from, i)];
      slot = sum ? slot + x : std::max(slot, x);
    });
  }
  void operator()(const op::Broadcast& broadcast) {
    pick([&](const Index& i) {
      Index source;
      for (const std::int64_t axis : broadcast.axes) source.push_back(at(i, axis));
      return source;
    });
  }
  void operator()(const op::Reshape&) { result_ = in(0); }
  void operator()(const op::Transpose& transpose) {
    pick([&](const Index& i) {
      Index source(i.size());
      for (std::size_t k = 0; k < i.size(); ++k) {
        source[static_cast<std::size_t>(transpose.permutation[k])] = i[k];
      }
      return source;
    });
  }
  void operator()(const op::Slice& slice) {
    pick([&](const Index& i) {
      Index source = i;
      for (std::size_t k = 0; k < i.size(); ++k) source[k] += slice.start[k];
      return source;
    });
  }
  void operator()(const op::Pad& pad) {
    for_each(shape(0), [&](const Index& i) {
      Index target = i;
      for (std::size_t k = 0; k < i.size(); ++k) target[k] += pad.low[k];
      result_[flat(node_->type.shape, target)] = in(0)[flat(shape(0), i)];
    });
  }
  void operator()(const op::Concatenate& concatenate) {
    const auto axis = static_cast<std::size_t>(concatenate.axis);
    std::int64_t start = 0;
    for (std::size_t k = 0; k < node_->inputs.size(); ++k) {
      for_each(shape(k), [&](const Index& i) {
        Index target = i;
        target[axis] += start;
        result_[flat(node_->type.shape, target)] = in(k)[flat(shape(k), i)];
      });
      start += shape(k)[axis];
    }
  }
  void operator()(const op::DotGeneral& dot) {
    const auto operand = [&](double x) {
      return dot.precision == Precision::bf16 ? rounded_to_bf16(x) : x;
    };
    const Axes lhs_free = other_axes(shape(0).size(), dot.lhs_batch, dot.lhs_contract);
    const Axes rhs_free = other_axes(shape(1).size(), dot.rhs_batch, dot.rhs_contract);
    Shape contracted;
    for (const std::int64_t axis : dot.lhs_contract) contracted.push_back(at(shape(0), axis));
    for_each(node_->type.shape, [&](const Index& i) {
      Index l(shape(0).size());
      Index r(shape(1).size());
      std::size_t position = 0;
      for (std::size_t k = 0; k < dot.lhs_batch.size(); ++k, ++position) {
        l[static_cast<std::size_t>(dot.lhs_batch[k])] = i[position];
        r[static_cast<std::size_t>(dot.rhs_batch[k])] = i[position];
      }
      for (const std::int64_t axis : lhs_free) l[static_cast<std::size_t>(axis)] = i[position++];
      for (const std::int64_t axis : rhs_free) r[static_cast<std::size_t>(axis)] = i[position++];
      double sum = 0;
      for_each(contracted, [&](const Index& c) {
        for (std::size_t k = 0; k < c.size(); ++k) {
          l[static_cast<std::size_t>(dot.lhs_contract[k])] = c[k];
          r[static_cast<std::size_t>(dot.rhs_contract[k])] = c[k];
        }
        sum += operand(in(0)[flat(shape(0), l)]) * operand(in(1)[flat(shape(1), r)]);
      });
      result_[flat(node_->type.shape, i)] = sum;
    });
  }
  void operator()(const op::GatherRows&) {
    const std::int64_t width = shape(0)[1];
    for (std::size_t i = 0; i < result_.size(); ++i) {
      const auto row = static_cast<std::int64_t>(in(1)[i / static_cast<std::size_t>(width)]);
      const std::int64_t clamped = std::clamp<std::int64_t>(row, 0, shape(0)[0] - 1);
      const std::int64_t column = static_cast<std::int64_t>(i) % width;
      result_[i] = in(0)[static_cast<std::size_t>(clamped * width + column)];
    }
  }
  // As if every device had the same.
  void operator()(const op::AllReduce& sum) {
    for (std::size_t i = 0; i < result_.size(); ++i) {
      result_[i] = in(0)[i] * static_cast<double>(sum.devices);
    }
  }
  void operator()(const op::Attention& attention) {
    each_query([&](std::int64_t b, std::int64_t i, std::int64_t h) {
      Numbers weights;
      double total = 0;
      const std::int64_t of_keys = head_of_keys(h);
      for (std::int64_t j = 0; j <= i; ++j) {
        const Index key{b, j, of_keys, 0};
        const double score = attention.scale * product(0, {b, i, h, 0}, 1, key);
        weights.push_back(of_one_segment(3, b, i, j) ? std::exp(score) : 0);
        total += weights.back();
      }
      if (attention.result == AttentionResult::statistics) {
        result_[flat(node_->type.shape, {b, h, i})] = std::log(total);
        return;
      }
      for (std::int64_t j = 0; j <= i; ++j) {
        add_row({b, i, h, 0}, weights[static_cast<std::size_t>(j)] / total, 2, {b, j, of_keys, 0});
      }
    });
  }
  void operator()(const op::AttentionGradient& gradient) {
    each_query([&](std::int64_t b, std::int64_t i, std::int64_t h) {
      const Index query{b, i, h, 0};
      const double shared = product(5, query, 4, query);
      const double statistics = in(3)[flat(shape(3), {b, h, i})];
      for (std::int64_t j = 0; j <= i; ++j) {
        if (!of_one_segment(6, b, i, j)) continue;
        const Index key{b, j, head_of_keys(h), 0};
        const double weight = std::exp(gradient.scale * product(0, query, 1, key) - statistics);
        const double score = gradient.scale * weight * (product(5, query, 2, key) - shared);
        if (gradient.input == 0) add_row(query, score, 1, key);
        if (gradient.input == 1) add_row(key, score, 0, query);
        if (gradient.input == 2) add_row(key, weight, 5, query);
      }
    });
  }
  void operator()(const op::ScatterAddRows& scatter) {
    const std::int64_t width = node_->type.shape[1];
    for (std::size_t i = 0; i < in(1).size(); ++i) {
      const auto row = static_cast<std::int64_t>(in(0)[i / static_cast<std::size_t>(width)]);
      if (row < 0 || row >= scatter.rows) continue;
      const std::int64_t column = static_cast<std::int64_t>(i) % width;
      result_[static_cast<std::size_t>(row * width + column)] += in(1)[i];
    }
  }

 private:
  [[nodiscard]] const Numbers& in(std::size_t k) const { return values_[node_->inputs[k].index()]; }
  [[nodiscard]] const Shape& shape(std::size_t k) const {
    return graph_.type(node_->inputs[k]).shape;
  }

  void map(const std::function<double(double)>& f) {
    for (std::size_t i = 0; i < result_.size(); ++i) result_[i] = f(in(0)[i]);
  }
  void each(const std::function<double(const Index&)>& f) {
    for_each(node_->type.shape,
             [&](const Index& i) { result_[flat(node_->type.shape, i)] = f(i); });
  }
  void pick(const std::function<Index(const Index&)>& source) {
    each([&](const Index& i) { return in(0)[flat(shape(0), source(i))]; });
  }

  // Of [batch, positions, heads, width].
  void each_query(const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& f) const {
    const Shape& q = shape(0);
    for_each({q[0], q[1], q[2]}, [&](const Index& at) { f(at[0], at[1], at[2]); });
  }
  // By the input `k`, if there is one.
  [[nodiscard]] bool of_one_segment(std::size_t k, std::int64_t b, std::int64_t i,
                                    std::int64_t j) const {
    if (node_->inputs.size() <= k) return true;
    return in(k)[flat(shape(k), {b, i})] == in(k)[flat(shape(k), {b, j})];
  }
  // Neighbours of the queries' heads share one.
  [[nodiscard]] std::int64_t head_of_keys(std::int64_t h) const {
    return h / (shape(0)[2] / shape(1)[2]);
  }
  // Of the rows that begin there, in two inputs.
  [[nodiscard]] double product(std::size_t a, const Index& in_a, std::size_t c,
                               const Index& in_c) const {
    double sum = 0;
    for (std::size_t k = 0; k < width(a); ++k) {
      sum += in(a)[flat(shape(a), in_a) + k] * in(c)[flat(shape(c), in_c) + k];
    }
    return sum;
  }
  void add_row(const Index& to, double factor, std::size_t input, const Index& from) {
    for (std::size_t k = 0; k < width(input); ++k) {
      result_[flat(node_->type.shape, to) + k] += factor * in(input)[flat(shape(input), from) + k];
    }
  }
  [[nodiscard]] std::size_t width(std::size_t k) const {
    return static_cast<std::size_t>(shape(k)[3]);
  }

  const Graph& graph_;
  std::vector<Numbers> values_;
  const Node* node_ = nullptr;
  Numbers result_;
};

}  // namespace

double rounded_to_bf16(double x) {
  if (!std::isfinite(x)) return x;
  int exponent = 0;
  (void)std::frexp(x, &exponent);
  const double last_place = std::ldexp(1.0, std::max(exponent, -125) - 8);
  const double nearest = std::nearbyint(x / last_place) * last_place;
  const double largest = (2 - 0x1p-7) * 0x1p127;
  return std::abs(nearest) > largest
             ? std::copysign(std::numeric_limits<double>::infinity(), nearest)
             : nearest;
}

std::vector<Numbers> interpret(const Graph& graph, const std::vector<Numbers>& parameters) {
  return Evaluation(graph, parameters).run();
}

}  // namespace trainward::graph::test
