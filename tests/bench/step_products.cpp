#include "step_products.hpp"

#include <algorithm>
#include <map>

#include "common/base/bf16.hpp"
#include "trainer/cpu/kernels/attention_kernel.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/graph/passes.hpp"
#include "trainer/graph/products.hpp"
#include "trainer/model/cpu/programs.hpp"

namespace trainward::trainer {
namespace {

namespace op = graph::op;
using graph::Graph;
using graph::Node;
using graph::Value;

bool only_looks(const graph::Op& op) {
  return std::holds_alternative<op::Broadcast>(op) || std::holds_alternative<op::Reshape>(op) ||
         std::holds_alternative<op::Transpose>(op) || std::holds_alternative<op::Slice>(op);
}

class Products {
 public:
  explicit Products(const Graph& graph) : in_(graph) {}

  Result<Graph> run() {
    std::vector<std::vector<Value>> known;  // inputs of the attentions that were met
    for (const Node& node : in_.nodes) {
      if (std::holds_alternative<op::DotGeneral>(node.op)) {
        outputs_.push_back(b_.append(node.op, {operand(node.inputs[0]), operand(node.inputs[1])}));
      }
      const bool forward = std::holds_alternative<op::Attention>(node.op);
      if (!forward && !std::holds_alternative<op::AttentionGradient>(node.op)) continue;
      if (std::find(known.begin(), known.end(), node.inputs) != known.end()) continue;
      known.push_back(node.inputs);
      add_attention(node, forward);
    }
    return b_.finish(outputs_);
  }

 private:
  // What is computed elsewhere is given; how a product sees it stays.
  Value operand(Value value) {
    const auto [place, is_new] = operands_.try_emplace(value);
    if (!is_new) return place->second;
    const Node& node = in_.node(value);
    Value made;
    if (only_looks(node.op)) {
      made = b_.append(node.op, {operand(node.inputs[0])});
    } else {
      made = given(node.type);
    }
    return operands_[value] = made;
  }
  Value given(const graph::Type& type) {
    return b_.parameter(fmt::format("given.{}", b_.graph().parameters.size()), type);
  }

  // A block of queries, of one query head of each group, as [batch, positions, groups, width].
  Value part(Value x, std::int64_t groups, std::int64_t head, std::int64_t first,
             std::int64_t last) {
    const graph::Shape s = b_.type(x).shape;
    const Value apart = b_.reshape(x, {s[0], s[1], groups, s[2] / groups, s[3]});
    const Value cut = b_.slice(apart, {0, first, 0, head, 0}, {s[0], last, groups, head + 1, s[3]});
    return b_.reshape(cut, {s[0], last - first, groups, s[3]});
  }

  void add_attention(const Node& node, bool forward) {
    const Value q = operand(node.inputs[0]);
    const Value k = operand(node.inputs[1]);
    const Value v = operand(node.inputs[2]);
    const Value of_output = forward ? Value{} : operand(node.inputs[5]);
    const graph::Shape shape = b_.type(q).shape;
    const std::int64_t groups = b_.type(k).shape[2];
    const std::int64_t rows = cpu::queries_at_a_time(shape[1]);
    for (std::int64_t first = 0; first < shape[1]; first += rows) {
      const std::int64_t last = std::min(first + rows, shape[1]);
      const Value keys = part(k, groups, 0, 0, last);
      const Value values = part(v, groups, 0, 0, last);
      const Value shares = given({b_.type(q).element, {shape[0], groups, last - first, last}});
      for (std::int64_t head = 0; head < shape[2] / groups; ++head) {
        const Value queries = part(q, groups, head, first, last);
        by_width(queries, keys);
        if (forward) {
          by_keys(shares, values);
          continue;
        }
        const Value of_block = part(of_output, groups, head, first, last);
        by_width(of_block, values);
        by_keys(shares, keys);
        by_queries(of_block, shares);
        by_queries(queries, shares);
      }
    }
  }
  // Over the width of heads, over the keys and over the queries.
  void by_width(Value a, Value b) { add(a, b, {{0, 2}, {0, 2}, {3}, {3}}); }
  void by_keys(Value shares, Value b) { add(shares, b, {{0, 1}, {0, 2}, {3}, {1}}); }
  void by_queries(Value a, Value shares) { add(a, shares, {{0, 2}, {0, 1}, {1}, {2}}); }
  void add(Value a, Value b, op::DotGeneral dot) {
    const bool bf16 = b_.type(a).element == graph::Element::bf16;
    if (bf16) dot.precision = graph::Precision::bf16;
    outputs_.push_back(b_.append(std::move(dot), {a, b}));
  }

  const Graph& in_;
  graph::Builder b_;
  std::map<Value, Value> operands_;
  std::vector<Value> outputs_;
};

// Halves: no operand is so small that it costs more.
void fill(const cpu::Memory& memory, graph::Element element) {
  if (element == graph::Element::bf16) {
    auto* values = reinterpret_cast<std::uint16_t*>(memory.data());
    std::fill_n(values, memory.size() / sizeof(std::uint16_t), bf16_from_float(0.5F));
  } else {
    std::fill_n(reinterpret_cast<float*>(memory.data()), memory.size() / sizeof(float), 0.5F);
  }
}

}  // namespace

Result<Graph> products_of(const Graph& graph) {
  return Products(graph::simplify(graph::round_operands(graph))).run();
}

Status StepProducts::add(const Graph& graph, std::int64_t times) {
  auto products = products_of(graph);
  if (!products) return propagate(products);
  if (products->outputs.empty()) return {};
  auto program = cpu::Program::compile(*products, *runtime_);
  if (!program) return propagate(program);
  Part part{*std::move(program), times, {}, {}, {}, nullptr};
  const auto allocate = [&](std::size_t bytes) -> Result<std::byte*> {
    auto memory = cpu::Memory::allocate(std::max(bytes, cpu::alignment));
    if (!memory) return propagate(memory);
    part.memory.push_back(*std::move(memory));
    return part.memory.back().data();
  };
  for (const Value value : products->parameters) {
    auto data = allocate(cpu::buffer_bytes(products->type(value)));
    if (!data) return propagate(data);
    fill(part.memory.back(), products->type(value).element);
    part.inputs.push_back(*data);
  }
  for (const Value value : products->outputs) {
    auto data = allocate(cpu::buffer_bytes(products->type(value)));
    if (!data) return propagate(data);
    part.outputs.push_back(*data);
  }
  auto workspace = allocate(part.program.workspace_bytes());
  if (!workspace) return propagate(workspace);
  part.workspace = *workspace;
  parts_.push_back(std::move(part));
  return {};
}

Result<StepProducts> StepProducts::of_segments(const TrainingSpec& spec) {
  StepProducts all;
  auto runtime = cpu::Runtime::create(spec.threads);
  if (!runtime) return propagate(runtime);
  all.runtime_ = *std::move(runtime);
  auto step = compile_step(spec, *all.runtime_);
  if (!step) return propagate(step);
  const std::int64_t batches = spec.accumulation;
  const std::int64_t blocks = batches * spec.model.layers;
  const Segments& segments = step->segments;
  auto ok = all.add(segments.block_forward, blocks);
  if (ok) ok = all.add(segments.head, batches);
  if (ok) ok = all.add(segments.block_backward, blocks);
  if (!ok) return propagate(ok);
  return all;
}

Result<StepProducts> StepProducts::of_graph(const Graph& step, int threads) {
  StepProducts all;
  auto runtime = cpu::Runtime::create(threads);
  if (!runtime) return propagate(runtime);
  all.runtime_ = *std::move(runtime);
  if (auto ok = all.add(step, 1); !ok) return propagate(ok);
  return all;
}

void StepProducts::run() {
  for (Part& part : parts_) {
    for (std::int64_t i = 0; i < part.times; ++i) {
      part.program.run(part.inputs, part.outputs, part.workspace);
    }
  }
}

}  // namespace trainward::trainer
