#include "step_work.hpp"

#include <algorithm>

#include "trainer/graph/flops.hpp"
#include "trainer/model/parameters.hpp"
#include "trainer/model/training/segments.hpp"

namespace trainward::roofline {
namespace {

using graph::Value;

constexpr double element_bytes = 4;

double bytes_of(const graph::Type& type) {
  return static_cast<double>(graph::element_count(type.shape)) * element_bytes;
}

// Nodes that some output needs.
std::vector<bool> needed(const graph::Graph& graph) {
  std::vector<bool> is_needed(graph.nodes.size());
  for (const Value output : graph.outputs) is_needed[output.index()] = true;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    if (!is_needed[i]) continue;
    for (const Value input : graph.nodes[i].inputs) is_needed[input.index()] = true;
  }
  return is_needed;
}

// What is read of each parameter: all of it, or the rows that are looked up.
std::vector<double> bytes_read(const graph::Graph& graph, const std::vector<bool>& is_needed) {
  std::vector<double> read(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!is_needed[i]) continue;
    const graph::Node& node = graph.nodes[i];
    const bool looks_up = std::holds_alternative<graph::op::GatherRows>(node.op);
    for (std::size_t place = 0; place < node.inputs.size(); ++place) {
      const double all = bytes_of(graph.type(node.inputs[place]));
      double& bytes = read[node.inputs[place].index()];
      bytes = looks_up && place == 0 ? std::min(all, bytes + bytes_of(node.type)) : all;
    }
  }
  return read;
}

}  // namespace

Work work_of(const graph::Graph& graph) {
  const std::vector<bool> is_needed = needed(graph);
  Work work;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (is_needed[i]) work.flops += graph::flops_of(graph, graph.nodes[i]);
  }
  const std::vector<double> read = bytes_read(graph, is_needed);
  for (const Value parameter : graph.parameters) work.bytes += read[parameter.index()];
  for (const Value output : graph.outputs) work.bytes += bytes_of(graph.type(output));
  return work;
}

double StepWork::flops() const {
  double sum = 0;
  for (const Segment& s : segments) sum += s.work.flops * static_cast<double>(s.times);
  return sum;
}

double StepWork::bytes() const {
  double sum = update_bytes;
  for (const Segment& s : segments) sum += s.work.bytes * static_cast<double>(s.times);
  return sum;
}

namespace {

// Parameter, gradient and two moments are read, all but the gradient written.
double adamw_bytes(std::size_t elements) {
  return 7 * element_bytes * static_cast<double>(elements);
}

}  // namespace

Result<StepWork> work_of_segments(const trainer::TrainingSpec& spec) {
  auto segments = trainer::make_segments(spec);
  if (!segments) return propagate(segments);
  const std::int64_t batches = spec.accumulation;
  const std::int64_t blocks = batches * spec.model.layers;
  StepWork step;
  step.segments = {{work_of(segments->embed), batches},
                   {work_of(segments->block_forward), blocks},
                   {work_of(segments->head), batches},
                   {work_of(segments->block_backward), blocks},
                   {work_of(segments->embed_backward), batches}};
  step.update_bytes =
      adamw_bytes(trainer::make_parameter_table(spec.model, spec.block_size).elements);
  return step;
}

StepWork work_of_whole(const trainer::ModelGraph& model, const trainer::Optimizer& optimizer) {
  StepWork step;
  step.segments = {{work_of(model.step), 1}};
  const std::size_t elements = trainer::lay_out({.embedding = model.parameters}, 0).elements;
  // Without moments: parameter and gradient are read, the parameter is written.
  step.update_bytes = std::holds_alternative<trainer::Sgd>(optimizer)
                          ? 3 * element_bytes * static_cast<double>(elements)
                          : adamw_bytes(elements);
  return step;
}

double least_seconds(const StepWork& step, const Machine& machine, bool in_cache) {
  const auto moving = [&](double bytes) { return in_cache ? 0 : bytes / machine.bytes_per_second; };
  double seconds = moving(step.update_bytes);
  for (const StepWork::Segment& s : step.segments) {
    seconds += static_cast<double>(s.times) *
               std::max(s.work.flops / machine.flops_per_second, moving(s.work.bytes));
  }
  return seconds;
}

}  // namespace trainward::roofline
