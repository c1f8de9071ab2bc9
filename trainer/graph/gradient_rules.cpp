#include "trainer/graph/gradient_rules.hpp"

#include <numeric>

namespace trainward::graph {
namespace {

Axes inverse(const Axes& permutation) {
  Axes result(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    result[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
  }
  return result;
}

bool is_identity(const Axes& permutation) {
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

class Rule {
 public:
  Rule(Builder& builder, const Node& node, Value value, std::size_t input, Value cotangent)
      : b_(builder), node_(node), y_(value), k_(input), g_(cotangent) {}

  Value operator()(const op::Parameter&) { return {}; }
  Value operator()(const op::Constant&) { return {}; }
  Value operator()(const op::Iota&) { return {}; }
  Value operator()(const op::Compare&) { return {}; }

  Value operator()(const op::Unary& unary) {
    switch (unary.kind) {
      case UnaryKind::negate:
        return b_.neg(g_);
      case UnaryKind::exponential:
        return b_.mul(g_, y_);
      case UnaryKind::log:
        return b_.div(g_, x(0));
      case UnaryKind::sqrt:
        return b_.div(b_.scale(g_, 0.5), y_);
      case UnaryKind::rsqrt:
        return b_.mul(b_.scale(g_, -0.5), b_.mul(y_, b_.mul(y_, y_)));
      case UnaryKind::tanh:
        return b_.mul(g_, b_.sub(b_.constant_like(1, y_), b_.mul(y_, y_)));
    }
    return {};
  }

  Value operator()(const op::Binary& binary) {
    switch (binary.kind) {
      case BinaryKind::add:
        return g_;
      case BinaryKind::subtract:
        return k_ == 0 ? g_ : b_.neg(g_);
      case BinaryKind::multiply:
        return b_.mul(g_, x(1 - k_));
      case BinaryKind::divide: {
        const Value share = b_.div(g_, x(1));
        return k_ == 0 ? share : b_.neg(b_.mul(share, y_));
      }
      case BinaryKind::maximum: {
        const Value first = b_.compare(Direction::gt, x(0), x(1));
        const Value zero = b_.constant_like(0, g_);
        return k_ == 0 ? b_.select(first, g_, zero) : b_.select(first, zero, g_);
      }
      case BinaryKind::bit_and:
      case BinaryKind::bit_or:
      case BinaryKind::bit_xor:
      case BinaryKind::shift_right_logical:
        return {};
    }
    return {};
  }

  Value operator()(const op::Select&) {
    if (k_ == 0) return {};
    const Value zero = b_.constant_like(0, g_);
    return k_ == 1 ? b_.select(x(0), g_, zero) : b_.select(x(0), zero, g_);
  }
  Value operator()(const op::Convert&) { return b_.convert(g_, b_.type(x(0)).element); }

  Value operator()(const op::Reduce& reduce) {
    const Shape shape = b_.type(x(0)).shape;
    const Axes kept = other_axes(shape.size(), reduce.axes);
    const Value spread = b_.broadcast(g_, kept, shape);
    if (reduce.kind == ReduceKind::sum) return spread;
    const Value attains = b_.compare(Direction::eq, x(0), b_.broadcast(y_, kept, shape));
    return b_.select(attains, spread, b_.constant_like(0, spread));
  }
  Value operator()(const op::Broadcast& broadcast) {
    const Axes added = other_axes(broadcast.shape.size(), broadcast.axes);
    return added.empty() ? g_ : b_.sum(g_, added);
  }
  Value operator()(const op::Reshape&) { return b_.reshape(g_, b_.type(x(0)).shape); }
  Value operator()(const op::Transpose& transpose) {
    return b_.transpose(g_, inverse(transpose.permutation));
  }
  Value operator()(const op::Slice& slice) {
    const Shape shape = b_.type(x(0)).shape;
    Axes high(shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i) high[i] = shape[i] - slice.limit[i];
    return b_.pad(g_, slice.start, high);
  }
  Value operator()(const op::Pad& pad) {
    const Shape shape = b_.type(x(0)).shape;
    Axes limit(shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i) limit[i] = pad.low[i] + shape[i];
    return b_.slice(g_, pad.low, limit);
  }
  Value operator()(const op::Concatenate& concatenate) {
    const auto axis = static_cast<std::size_t>(concatenate.axis);
    Axes start(node_.type.shape.size(), 0);
    Axes limit = node_.type.shape;
    for (std::size_t i = 0; i < k_; ++i) start[axis] += b_.type(x(i)).shape[axis];
    limit[axis] = start[axis] + b_.type(x(k_)).shape[axis];
    return b_.slice(g_, start, limit);
  }

  Value operator()(const op::DotGeneral& dot) {
    return k_ == 0 ? dot_gradient(dot.lhs_batch, dot.lhs_contract, dot.rhs_batch, dot.rhs_contract,
                                  dot.precision)
                   : dot_gradient(dot.rhs_batch, dot.rhs_contract, dot.lhs_batch, dot.lhs_contract,
                                  dot.precision);
  }

  Value operator()(const op::GatherRows&) {
    if (k_ != 0) return {};
    // The gather clamps its ids; the rows it read are where the gradient goes.
    const std::int64_t rows = b_.type(x(0)).shape[0];
    const Value last = b_.constant_like(static_cast<double>(rows - 1), x(1));
    const Value low = b_.max(x(1), b_.constant_like(0, x(1)));
    const Value ids = b_.select(b_.compare(Direction::lt, low, last), low, last);
    return b_.scatter_add_rows(ids, g_, rows);
  }
  Value operator()(const op::ScatterAddRows& scatter) {
    if (k_ != 1) return {};
    // Rows that were added nowhere receive nothing.
    const Value rows = b_.gather_rows(g_, x(0));
    const Shape shape = b_.type(rows).shape;
    Axes axes(shape.size() - 1);
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
    const Value ids = b_.broadcast(x(0), axes, shape);
    const Value zero = b_.constant_like(0, rows);
    const Value not_below = b_.compare(Direction::ge, ids, b_.constant_like(0, ids));
    const Value end = b_.constant_like(static_cast<double>(scatter.rows), ids);
    return b_.select(not_below, b_.select(b_.compare(Direction::lt, ids, end), rows, zero), zero);
  }

  Value operator()(const op::AllReduce& sum) { return b_.all_reduce(g_, sum); }

  Value operator()(const op::Attention& attention) {
    if (attention.result == AttentionResult::statistics) return none("an attention's statistics");
    const Value statistics =
        once(op::Attention{attention.scale, AttentionResult::statistics}, node_.inputs);
    std::vector<Value> inputs{x(0), x(1), x(2), statistics, y_, g_};
    if (node_.inputs.size() > 3) inputs.push_back(x(3));
    return b_.append(op::AttentionGradient{attention.scale, static_cast<std::int64_t>(k_)},
                     std::move(inputs));
  }
  Value operator()(const op::AttentionGradient&) { return none("the gradient of attention"); }

 private:
  // Where it stands after y already, as part of what was differentiated, that one.
  Value once(const Op& op, const std::vector<Value>& inputs) {
    const std::vector<Node>& nodes = b_.graph().nodes;
    for (std::size_t i = y_.index(); i < nodes.size(); ++i) {
      if (nodes[i].op == op && nodes[i].inputs == inputs) {
        return Value{static_cast<std::int32_t>(i)};
      }
    }
    return b_.append(op, inputs);
  }
  Value none(std::string_view of) {
    b_.set_error({ErrorKind::usage, fmt::format("{} has no gradient", of), {}, {}});
    return {};
  }
  [[nodiscard]] Value x(std::size_t i) const { return node_.inputs[i]; }

  // The cotangent of one operand ("ours") is a product of g with the other operand ("other") over
  // the other's free axes. Of the two orders of that product, the one whose result already has our
  // axes in place is taken, so that mostly no transposition follows. Its precision is that of the
  // product it is the gradient of.
  Value dot_gradient(const Axes& batch, const Axes& contract, const Axes& other_batch,
                     const Axes& other_contract, Precision precision) {
    const Shape shape = b_.type(x(k_)).shape;
    const Value other = x(1 - k_);
    const std::size_t other_rank = b_.type(other).shape.size();
    const Axes free = other_axes(shape.size(), batch, contract);
    const Axes other_free = other_axes(other_rank, other_batch, other_contract);

    const auto batches = static_cast<std::int64_t>(batch.size());
    const auto lhs_free = static_cast<std::int64_t>(k_ == 0 ? free.size() : other_free.size());
    Axes g_batch(batch.size());
    std::iota(g_batch.begin(), g_batch.end(), 0);
    Axes g_contract(other_free.size());
    std::iota(g_contract.begin(), g_contract.end(), k_ == 0 ? batches + lhs_free : batches);

    // The other's contracted axes stay as free axes of the new product, in ascending order there;
    // ours_of tells which of our axes each one is.
    Axes ours_of;
    for (const std::int64_t axis : other_axes(other_rank, other_batch, other_free)) {
      for (std::size_t i = 0; i < contract.size(); ++i) {
        if (other_contract[i] == axis) ours_of.push_back(contract[i]);
      }
    }
    Axes free_first = batch;  // our axis at each position of g · other
    free_first.insert(free_first.end(), free.begin(), free.end());
    free_first.insert(free_first.end(), ours_of.begin(), ours_of.end());
    if (is_identity(free_first)) {
      return product(g_, other, {g_batch, other_batch, g_contract, other_free, precision});
    }
    Axes contract_first = batch;  // and of other · g
    contract_first.insert(contract_first.end(), ours_of.begin(), ours_of.end());
    contract_first.insert(contract_first.end(), free.begin(), free.end());
    const Value turned =
        product(other, g_, {other_batch, g_batch, other_free, g_contract, precision});
    if (is_identity(contract_first)) return turned;
    return b_.transpose(turned, inverse(contract_first));
  }
  Value product(Value lhs, Value rhs, op::DotGeneral dot) {
    return b_.append(std::move(dot), {lhs, rhs});
  }

  Builder& b_;
  const Node& node_;
  Value y_;
  std::size_t k_;
  Value g_;
};

}  // namespace

Value gradient_of_input(Builder& builder, const Node& node, Value value, std::size_t input,
                        Value cotangent) {
  return std::visit(Rule(builder, node, value, input, cotangent), node.op);
}

}  // namespace trainward::graph
