#include "trainer/device/optimizer_graphs.hpp"

#include <numeric>

#include "trainer/graph/builder.hpp"
#include "trainer/graph/passes.hpp"

namespace trainward::trainer {
namespace {

using graph::Builder;
using graph::Graph;
using graph::Type;
using graph::Value;

Value parameter(Builder& b, std::string_view name, std::size_t i, const Type& type) {
  return b.parameter(fmt::format("{}.{}", name, i), type);
}

std::vector<Value> parameters(Builder& b, std::string_view name, const std::vector<Type>& types) {
  std::vector<Value> all;
  for (std::size_t i = 0; i < types.size(); ++i) all.push_back(parameter(b, name, i, types[i]));
  return all;
}

Value spread(Builder& b, Value scalar, Value like) {
  return b.broadcast(scalar, {}, b.type(like).shape);
}

Result<Graph> finish(const Builder& b, const std::vector<Value>& outputs) {
  Result<Graph> graph = b.finish(outputs);
  if (!graph) return graph;
  return graph::simplify(*graph);
}

}  // namespace

Result<Graph> add_to_sums(const Graph& backward, std::size_t first_sum) {
  Builder b;
  std::vector<Value> moved;
  for (const graph::Node& node : backward.nodes) {
    std::vector<Value> inputs;
    for (const Value input : node.inputs) inputs.push_back(moved[input.index()]);
    moved.push_back(b.append(node.op, std::move(inputs)));
  }
  std::vector<Value> outputs;
  for (std::size_t i = 0; i < backward.outputs.size(); ++i) {
    Value output = moved[backward.outputs[i].index()];
    if (i >= first_sum) {
      output = b.add(parameter(b, "sum", i, backward.type(backward.outputs[i])), output);
    }
    outputs.push_back(output);
  }
  return b.finish(outputs);
}

Result<Graph> make_exchange(const std::vector<Type>& gradients,
                            const std::vector<graph::op::AllReduce>& over) {
  Builder b;
  std::vector<Value> summed = parameters(b, "gradient", gradients);
  for (std::size_t i = 0; i < summed.size(); ++i) summed[i] = b.all_reduce(summed[i], over[i]);
  return finish(b, summed);
}

Result<Graph> make_finish(const std::vector<Type>& gradients, const std::vector<double>& shares) {
  Builder b;
  Value squares = b.parameter("squares", {});
  const std::vector<Value> all = parameters(b, "gradient", gradients);
  for (std::size_t i = 0; i < all.size(); ++i) {
    graph::Axes axes(b.type(all[i]).shape.size());
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
    const Value own = b.sum(b.mul(all[i], all[i]), axes);
    squares = b.add(squares, shares[i] == 1 ? own : b.scale(own, shares[i]));
  }
  return finish(b, {squares});
}

Result<Graph> make_clip(double limit) {
  Builder b;
  const Value norm = b.sqrt(b.parameter("squares", {}));
  const Value excess = b.scale(b.add(norm, b.constant_like(1e-6, norm)), 1 / limit);
  const Value one = b.constant_like(1, norm);
  return finish(b, {b.div(one, b.max(one, excess))});
}

std::vector<float> values_of(const optim::AdamWFactors& factors) {
  return {factors.keep, factors.clip, factors.step_size, factors.denominator};
}

Result<Graph> make_pack(const std::vector<Type>& types, const std::vector<bool>& packed) {
  Builder b;
  const std::vector<Value> weights = parameters(b, "parameter", types);
  std::vector<Value> halves;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (packed[i]) halves.push_back(b.convert(weights[i], graph::Element::bf16));
  }
  return finish(b, halves);
}

Result<Graph> make_update(const std::vector<Type>& types, const std::vector<bool>& decays,
                          const std::vector<bool>& packed, const optim::AdamWOptions& options) {
  Builder b;
  const Value keep = b.parameter("keep", {});
  const Value clip = b.parameter("clip", {});
  const Value step_size = b.parameter("step_size", {});
  const Value denominator = b.parameter("denominator", {});
  std::vector<Value> weights = parameters(b, "parameter", types);
  const std::vector<Value> gradients = parameters(b, "gradient", types);
  std::vector<Value> means = parameters(b, "mean", types);
  std::vector<Value> variances = parameters(b, "variance", types);
  std::vector<Value> halves;
  for (std::size_t i = 0; i < types.size(); ++i) {
    Value& p = weights[i];
    Value& m = means[i];
    Value& v = variances[i];
    const Value g = b.mul(gradients[i], spread(b, clip, p));
    m = b.add(b.scale(m, options.beta1), b.scale(g, 1 - options.beta1));
    v = b.add(b.scale(v, options.beta2), b.mul(b.scale(g, 1 - options.beta2), g));
    const Value divisor =
        b.add(b.mul(b.sqrt(v), spread(b, denominator, p)), b.constant_like(options.epsilon, v));
    // `keep` of what does not decay would be 1.
    p = b.sub(decays[i] ? b.mul(p, spread(b, keep, p)) : p,
              b.div(b.mul(spread(b, step_size, p), m), divisor));
    if (packed[i]) halves.push_back(b.convert(p, graph::Element::bf16));
  }
  std::vector<Value> outputs = weights;
  for (const auto* more : {&means, &variances, &halves}) {
    outputs.insert(outputs.end(), more->begin(), more->end());
  }
  return finish(b, outputs);
}

}  // namespace trainward::trainer
