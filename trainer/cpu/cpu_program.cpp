#include "trainer/cpu/cpu_program.hpp"

#include <bit>
#include <numeric>

#include "common/base/bf16.hpp"
#include "trainer/cpu/arena_plan.hpp"
#include "trainer/cpu/fusion/legalise.hpp"
#include "trainer/cpu/kernel_schedule.hpp"
#include "trainer/cpu/kernels/attention_kernel.hpp"
#include "trainer/cpu/kernels/dot_kernel.hpp"
#include "trainer/cpu/kernels/fused_kernel.hpp"
#include "trainer/cpu/kernels/plain_kernels.hpp"
#include "trainer/cpu/kernels/row_product_kernel.hpp"
#include "trainer/graph/passes.hpp"
#include "trainer/graph/products.hpp"

namespace trainward::cpu {

namespace op = graph::op;
using graph::Node;

// Turns a legal graph into kernels and buffers, in three strokes: buffers, kernels, arena.
class Planner {
 public:
  Planner(const LegalGraph& legal, const Runtime& runtime, std::size_t first_sum)
      : legal_(legal),
        runtime_(runtime),
        first_sum_(first_sum),
        fusion_(fuse(legal)),
        schedule_(make_schedule(legal, fusion_)),
        buffer_of_(legal.graph.nodes.size(), -1) {
    program_.runtime_ = &runtime;
  }

  Result<Program> run() {
    make_buffers();
    for (std::size_t step = 0; step < schedule_.units.size(); ++step) {
      Result<std::unique_ptr<Kernel>> kernel = make_kernel(schedule_.units[step]);
      if (!kernel) return propagate(kernel);
      add_scratch(**kernel, step);
      program_.kernels_.push_back(*std::move(kernel));
    }
    for (const Sum& sum : sums_) {
      program_.kernels_.push_back(
          make_add_kernel(sum.from, sum.out, sum.elements, runtime_.threads()));
    }
    place_buffers();
    program_.addresses_.resize(program_.buffers_.size());
    return std::move(program_);
  }

 private:
  [[nodiscard]] const View& view(Value value) const { return legal_.views[value.index()]; }
  [[nodiscard]] BufferId buffer(Value value) const { return buffer_of_[view(value).root.index()]; }

  BufferId add_buffer(Program::Home home, std::size_t position, Lifetime lifetime) {
    program_.buffers_.push_back({home, position});
    lifetimes_.push_back(lifetime);
    return static_cast<BufferId>(program_.buffers_.size() - 1);
  }

  void make_buffers() {
    // The last step that reads each stored value, and whether a step other than its own does.
    std::vector<std::size_t> last(legal_.graph.nodes.size(), 0);
    std::vector<bool> stored(legal_.graph.nodes.size(), false);
    for (std::size_t i = 0; i < legal_.graph.nodes.size(); ++i) {
      const int user = schedule_.unit_of[i];
      if (user < 0) continue;
      for (const Value input : legal_.graph.nodes[i].inputs) {
        const std::size_t root = view(input).root.index();
        last[root] = std::max(last[root], static_cast<std::size_t>(user));
        if (schedule_.unit_of[root] != user) stored[root] = true;
      }
    }
    std::vector<bool> taken(legal_.graph.nodes.size(), false);
    for (std::size_t i = 0; i < legal_.graph.nodes.size(); ++i) {
      if (addend_of(legal_, Value{static_cast<std::int32_t>(i)}) == Addend::product) {
        taken[legal_.graph.nodes[i].inputs[2].index()] = true;
      }
    }
    std::vector<int> output_of(legal_.graph.nodes.size(), -1);
    for (std::size_t k = 0; k < legal_.graph.outputs.size(); ++k) {
      output_of[legal_.graph.outputs[k].index()] = static_cast<int>(k);
    }
    for (std::size_t k = 0; k < legal_.graph.parameters.size(); ++k) {
      program_.parameters_.push_back(legal_.graph.type(legal_.graph.parameters[k]).element);
      buffer_of_[legal_.graph.parameters[k].index()] = add_buffer(Program::Home::parameter, k, {});
    }
    for (std::size_t i = 0; i < legal_.graph.nodes.size(); ++i) {
      const Node& node = legal_.graph.nodes[i];
      if (is_view(legal_, Value{static_cast<std::int32_t>(i)}) ||
          std::holds_alternative<op::Parameter>(node.op)) {
        continue;
      }
      if (std::holds_alternative<op::Constant>(node.op) ||
          std::holds_alternative<op::Iota>(node.op)) {
        if (stored[i]) buffer_of_[i] = add_constant(node);
      } else if (taken[i]) {
        continue;  // of another's place
      } else if (output_of[i] >= 0) {
        make_output(i, static_cast<std::size_t>(output_of[i]), stored[i]);
      } else if (stored[i]) {
        buffer_of_[i] = add_arena_buffer(i, last[i]);
      }
    }
    share_places();
  }

  // From the last of those that add up to the first.
  void share_places() {
    for (std::size_t i = legal_.graph.nodes.size(); i-- > 0;) {
      if (addend_of(legal_, Value{static_cast<std::int32_t>(i)}) != Addend::product) continue;
      const std::size_t earlier = legal_.graph.nodes[i].inputs[2].index();
      buffer_of_[earlier] = buffer_of_[i];
      std::size_t& first = lifetimes_[static_cast<std::size_t>(buffer_of_[i])].first;
      first = std::min(first, static_cast<std::size_t>(schedule_.unit_of[earlier]));
    }
  }

  BufferId add_arena_buffer(std::size_t node, std::size_t last) {
    const graph::Type& type = legal_.graph.nodes[node].type;
    const std::size_t bytes =
        static_cast<std::size_t>(graph::element_count(type.shape)) * bytes_of(type.element);
    return add_buffer(Program::Home::arena, 0,
                      {bytes, static_cast<std::size_t>(schedule_.unit_of[node]), last});
  }

  void make_output(std::size_t node, std::size_t k, bool read_again) {
    const BufferId out = add_buffer(Program::Home::output, k, {});
    buffer_of_[node] = out;
    if (k < first_sum_ || (adds_by_itself(legal_.graph.nodes[node]) && !read_again)) return;
    // Computed apart, and added at the end.
    buffer_of_[node] = add_arena_buffer(node, schedule_.units.size());
    sums_.push_back(
        {buffer_of_[node], out, graph::element_count(legal_.graph.nodes[node].type.shape)});
  }

  static bool adds_by_itself(const Node& node) {
    return std::holds_alternative<op::DotGeneral>(node.op) ||
           std::holds_alternative<op::ScatterAddRows>(node.op);
  }
  // Whether the kernel of this node is to add to its output.
  [[nodiscard]] bool is_sum(Value value) const {
    const Program::Buffer& out =
        program_.buffers_[static_cast<std::size_t>(buffer_of_[value.index()])];
    return out.home == Program::Home::output && out.position >= first_sum_;
  }

  BufferId add_constant(const Node& node) {
    const auto word = [&](double value) -> std::uint32_t {
      const auto single = static_cast<float>(value);
      if (node.type.element == graph::Element::f32) return std::bit_cast<std::uint32_t>(single);
      // In both halves, so that it is the first two bytes whatever their order.
      if (node.type.element == graph::Element::bf16) return bf16_from_float(single) * 0x10001U;
      return static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
    };
    const std::size_t position = program_.constants_.size();
    if (const auto* iota = std::get_if<op::Iota>(&node.op)) {
      const std::int64_t size = node.type.shape[static_cast<std::size_t>(iota->axis)];
      for (std::int64_t i = 0; i < size; ++i) {
        program_.constants_.push_back(word(static_cast<double>(i)));
      }
    } else {
      program_.constants_.push_back(word(std::get<op::Constant>(node.op).value));
    }
    return add_buffer(Program::Home::constant, position, {});
  }

  void add_scratch(Kernel& kernel, std::size_t step) {
    if (kernel.scratch_bytes() == 0) return;
    kernel.set_scratch(add_buffer(Program::Home::arena, 0, {kernel.scratch_bytes(), step, step}));
  }

  void place_buffers() {
    std::vector<Lifetime> lifetimes;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < program_.buffers_.size(); ++i) {
      if (program_.buffers_[i].home != Program::Home::arena) continue;
      lifetimes.push_back(lifetimes_[i]);
      which.push_back(i);
    }
    const ArenaPlan plan = plan_arena(lifetimes);
    for (std::size_t i = 0; i < which.size(); ++i) {
      program_.buffers_[which[i]].position = plan.offsets[i];
    }
    program_.workspace_bytes_ = plan.bytes;
  }

  Result<std::unique_ptr<Kernel>> make_kernel(const Unit& unit) {
    if (unit.cluster >= 0 && cluster(unit).attention) return attention(cluster(unit));
    if (unit.cluster >= 0) {
      return make_fused_kernel(FusedPlan{legal_, fusion_, unit.cluster,
                                         [this](Value value) -> std::optional<BufferId> {
                                           const BufferId id = buffer_of_[value.index()];
                                           return id < 0 ? std::nullopt : std::optional(id);
                                         },
                                         runtime_.threads()});
    }
    const Node& node = legal_.graph.node(unit.node);
    const BufferId out = buffer_of_[unit.node.index()];
    if (const auto* dot = std::get_if<op::DotGeneral>(&node.op)) {
      const View& lhs = view(node.inputs[0]);
      const View& rhs = view(node.inputs[1]);
      const std::optional<DotLayout> layout = dot_layout(*dot, lhs, rhs, view(unit.node));
      if (!layout) return fail(ErrorKind::usage, "dot_general: the operands do not form a product");
      if (is_row_product(legal_, unit.node)) {
        return make_row_product_kernel(
            {buffer(node.inputs[0]), buffer(node.inputs[1]), out, lhs.offset, rhs.offset, layout->k,
             layout->n, is_sum(unit.node)},
            runtime_.threads());
      }
      const Addend addend = addend_of(legal_, unit.node);
      DotBuffers buffers{buffer(node.inputs[0]),
                         buffer(node.inputs[1]),
                         out,
                         lhs.offset,
                         rhs.offset,
                         legal_.graph.type(node.inputs[0]).element,
                         is_sum(unit.node) || addend == Addend::product,
                         {}};
      if (addend == Addend::row) buffers.bias = buffer(node.inputs[2]);
      return make_dot_kernel(runtime_, *layout, buffers);
    }
    if (std::holds_alternative<op::GatherRows>(node.op)) return gather(node, out);
    if (std::holds_alternative<op::ScatterAddRows>(node.op)) return scatter(unit.node, out);
    return copy(node, out);
  }

  [[nodiscard]] const Cluster& cluster(const Unit& unit) const {
    return fusion_.clusters[static_cast<std::size_t>(unit.cluster)];
  }
  // Nothing for unread values.
  [[nodiscard]] std::optional<BufferId> wanted(Value value) const {
    const BufferId id = buffer_of_[value.index()];
    return id < 0 ? std::nullopt : std::optional(id);
  }
  [[nodiscard]] AttentionOperand operand(Value value) const {
    const View& seen = view(value);
    return {buffer(value), seen.offset, seen.strides[0], seen.strides[1], seen.strides[2]};
  }

  Result<std::unique_ptr<Kernel>> attention(const Cluster& all) {
    const Node& first = legal_.graph.node(all.members.front());
    const auto* gradient = std::get_if<op::AttentionGradient>(&first.op);
    const std::vector<Value>& in = first.inputs;
    const std::size_t count = gradient == nullptr ? 3 : 6;
    const graph::Type& q = legal_.graph.type(in[0]);
    if (q.element == graph::Element::bf16 && !runtime_.multiplies_bf16()) {
      return fail(ErrorKind::usage, "attention: this processor has no products of bf16");
    }
    AttentionInputs inputs{
        {q.shape[0], q.shape[1], q.shape[2], view(in[1]).shape[2], q.shape[3], view(in[2]).shape[3],
         gradient == nullptr ? std::get<op::Attention>(first.op).scale : gradient->scale,
         q.element},
        operand(in[0]),
        operand(in[1]),
        operand(in[2]),
        {}};
    if (in.size() > count) {
      inputs.segments = buffer(in[count]);
      inputs.segments_offset = view(in[count]).offset;
    }
    if (gradient == nullptr) {
      AttentionResults results;
      for (const Value member : all.members) {
        const auto& op = std::get<op::Attention>(legal_.graph.node(member).op);
        const bool output = op.result == graph::AttentionResult::output;
        (output ? results.output : results.statistics) = wanted(member);
      }
      return make_attention_kernel(runtime_, inputs, results);
    }
    AttentionGradients gradients{operand(in[5]), buffer(in[3]), view(in[3]).offset, {}};
    for (const Value member : all.members) {
      const auto& op = std::get<op::AttentionGradient>(legal_.graph.node(member).op);
      gradients.of_qkv[static_cast<std::size_t>(op.input)] = wanted(member);
    }
    return make_attention_kernel(runtime_, inputs, gradients);
  }

  Result<std::unique_ptr<Kernel>> gather(const Node& node, BufferId out) {
    const View& table = view(node.inputs[0]);
    const View& ids = view(node.inputs[1]);
    return make_gather_kernel(
        {table.shape[0], table.shape[1], graph::element_count(ids.shape), node.type.element},
        buffer(node.inputs[0]), table.offset, buffer(node.inputs[1]), ids.offset, out,
        runtime_.threads());
  }
  Result<std::unique_ptr<Kernel>> scatter(Value value, BufferId out) {
    const Node& node = legal_.graph.node(value);
    const View& ids = view(node.inputs[0]);
    const View& updates = view(node.inputs[1]);
    return make_scatter_kernel(
        {node.type.shape[0], node.type.shape[1], graph::element_count(ids.shape)},
        buffer(node.inputs[0]), ids.offset, buffer(node.inputs[1]), updates.offset, out,
        is_sum(value), runtime_.threads());
  }

  Result<std::unique_ptr<Kernel>> copy(const Node& node, BufferId out) {
    std::vector<Part> parts;
    if (const auto* pad = std::get_if<op::Pad>(&node.op)) {
      parts.push_back({buffer(node.inputs[0]), view(node.inputs[0]), pad->low});
    } else if (const auto* concatenate = std::get_if<op::Concatenate>(&node.op)) {
      Axes start(node.type.shape.size(), 0);
      for (const Value input : node.inputs) {
        parts.push_back({buffer(input), view(input), start});
        const auto axis = static_cast<std::size_t>(concatenate->axis);
        start[axis] += view(input).shape[axis];
      }
    } else {
      return fail(ErrorKind::usage, fmt::format("{}: the CPU executor has no kernel for it",
                                                graph::name_of(node.op)));
    }
    return make_copy_kernel(std::move(parts), out, node.type.shape, runtime_.threads());
  }

  struct Sum {
    BufferId from, out;
    std::int64_t elements;
  };

  const LegalGraph& legal_;
  const Runtime& runtime_;
  std::size_t first_sum_;
  Fusion fusion_;
  Schedule schedule_;
  std::vector<BufferId> buffer_of_;  // per node that has storage; -1 otherwise
  std::vector<Lifetime> lifetimes_;  // per buffer; of meaning for those in the arena
  std::vector<Sum> sums_;
  Program program_;
};

Result<Program> Program::compile(const graph::Graph& graph, const Runtime& runtime,
                                 std::size_t first_sum) {
  runtime.apply();
  graph::Graph rounded = graph::round_operands(graph);
  if (!runtime.multiplies_bf16()) rounded = graph::widen_operands(rounded);
  const Result<LegalGraph> legal =
      legalise(graph::simplify(graph::join_pads(graph::simplify(rounded))));
  if (!legal) return tl::unexpected<Error>(legal.error());
  for (std::size_t k = first_sum; k < legal->graph.outputs.size(); ++k) {
    const graph::Type& type = legal->graph.type(legal->graph.outputs[k]);
    if (type.element != graph::Element::f32) {
      return fail(ErrorKind::usage, fmt::format("output {} is {}; only f32 can be added up", k,
                                                graph::to_string(type)));
    }
  }
  return Planner(*legal, runtime, first_sum).run();
}

void Program::run(std::span<const void* const> parameters, std::span<void* const> outputs,
                  std::byte* workspace) {
  runtime_->apply();
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = buffers_[i];
    switch (buffer.home) {
      case Home::parameter:
        // Kernels only read parameters; the table of addresses is of one type for all buffers.
        addresses_[i] = static_cast<std::byte*>(const_cast<void*>(parameters[buffer.position]));
        break;
      case Home::output:
        addresses_[i] = static_cast<std::byte*>(outputs[buffer.position]);
        break;
      case Home::constant:
        addresses_[i] = reinterpret_cast<std::byte*>(constants_.data() + buffer.position);
        break;
      case Home::arena:
        addresses_[i] = workspace + buffer.position;
        break;
    }
  }
  for (const std::unique_ptr<Kernel>& kernel : kernels_) kernel->run(addresses_.data());
}

}  // namespace trainward::cpu
