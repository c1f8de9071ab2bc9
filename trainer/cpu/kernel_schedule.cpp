#include "trainer/cpu/kernel_schedule.hpp"

#include <functional>

namespace trainward::cpu {

bool is_leaf(const graph::Op& op) {
  return std::holds_alternative<graph::op::Parameter>(op) ||
         std::holds_alternative<graph::op::Constant>(op) ||
         std::holds_alternative<graph::op::Iota>(op);
}

Schedule make_schedule(const LegalGraph& legal, const Fusion& fusion) {
  Schedule schedule;
  schedule.unit_of.assign(legal.graph.nodes.size(), -1);
  std::vector<bool> done(legal.graph.nodes.size(), false);
  // Depth first from the earliest node: a unit runs right after the last of what it needs.
  const std::function<void(Value)> compute = [&](Value value) {
    if (done[value.index()] || is_leaf(legal.graph.node(value).op)) return;
    const int cluster = fusion.cluster_of[value.index()];
    std::vector<Value> members{value};
    if (cluster >= 0) members = fusion.clusters[static_cast<std::size_t>(cluster)].members;
    for (const Value member : members) done[member.index()] = true;
    for (const Value member : members) {
      for (const Value input : legal.graph.node(member).inputs) {
        compute(legal.views[input.index()].root);
      }
    }
    for (const Value member : members) {
      schedule.unit_of[member.index()] = static_cast<int>(schedule.units.size());
    }
    schedule.units.push_back({cluster, value});
  };
  for (std::size_t i = 0; i < legal.graph.nodes.size(); ++i) {
    const Value value{static_cast<std::int32_t>(i)};
    if (!is_view(legal, value)) compute(value);
  }
  return schedule;
}

}  // namespace trainward::cpu
