#include "trainer/n300_sim/stage_plan.hpp"

#include <algorithm>
#include <optional>

#include "trainer/graph/passes.hpp"

namespace trainward::n300 {
namespace {

namespace op = graph::op;
using graph::Node;
using graph::Value;

template <typename T>
bool is(const Node& node) {
  return std::holds_alternative<T>(node.op);
}

class Planner {
 public:
  explicit Planner(const graph::Graph& graph)
      : graph_(graph), level_(graph.nodes.size(), 0), place_(graph.nodes.size()) {}

  StagePlan run() {
    find_levels();
    find_needed();
    place_outputs();
    place_sums();
    for (std::size_t s = requests_.size(); s-- > 0;) {
      find_inputs(s);
    }
    place_operands();
    make_stages();
    return std::move(plan_);
  }

 private:
  struct Request {
    Value value;
    Place place;
  };

  [[nodiscard]] std::int64_t elements(Value value) const {
    return graph::element_count(graph_.type(value).shape);
  }

  void find_levels() {
    constant_.resize(graph_.nodes.size(), false);
    std::size_t last = 0;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      bool constant = !is<op::Parameter>(node);
      for (const Value input : node.inputs) {
        level_[i] = std::max(level_[i], level_[input.index()]);
        constant = constant && constant_[input.index()];
      }
      constant_[i] = constant && !is<op::AllReduce>(node);
      if (is<op::AllReduce>(node)) ++level_[i];
      last = std::max(last, level_[i]);
    }
    requests_.resize(last + 1);
    inputs_.resize(last + 1);
  }

  void find_needed() {
    needed_.resize(graph_.nodes.size(), false);
    for (const Value output : graph_.outputs) needed_[output.index()] = true;
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      if (!needed_[i]) continue;
      for (const Value input : graph_.nodes[i].inputs) needed_[input.index()] = true;
    }
  }

  // A sum goes straight to the output that it is; a second output of it is a copy.
  void place_outputs() {
    for (std::size_t k = 0; k < graph_.outputs.size(); ++k) {
      const Value value = graph_.outputs[k];
      const Place place{Place::Home::output, k};
      std::optional<Place>& taken = place_[value.index()];
      if (!is<op::AllReduce>(graph_.node(value))) {
        requests_[level_[value.index()]].push_back({value, place});
        if (!taken) taken = place;
      } else if (!taken) {
        taken = place;
      } else {
        plan_.copies.push_back({taken->position, k, elements(value)});
      }
    }
    for (std::size_t k = 0; k < graph_.parameters.size(); ++k) {
      place_[graph_.parameters[k].index()] = Place{Place::Home::parameter, k};
    }
  }

  Place temporary(Value value) {
    plan_.temporaries.push_back(elements(value));
    return {Place::Home::temporary, plan_.temporaries.size() - 1};
  }

  void place_sums() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Value value{static_cast<std::int32_t>(i)};
      if (!needed_[i] || !is<op::AllReduce>(graph_.nodes[i])) continue;
      sums_.push_back(value);
      if (!place_[i]) place_[i] = temporary(value);
    }
  }

  // A value of an earlier stage that is cheaper to compute again than to keep.
  [[nodiscard]] bool is_computed_again(std::size_t node) const {
    const Node& it = graph_.nodes[node];
    return constant_[node] || is<op::Broadcast>(it) || is<op::Reshape>(it) ||
           is<op::Transpose>(it) || is<op::Slice>(it);
  }

  // What stage s reads, which is what earlier stages must keep.
  void find_inputs(std::size_t s) {
    std::vector<bool> wanted(graph_.nodes.size(), false);
    for (const Request& request : requests_[s]) wanted[request.value.index()] = true;
    for (const Value sum : sums_) {
      const Value operand = graph_.node(sum).inputs[0];
      // Parameters and other sums are read where they are.
      if (level_[sum.index()] == s + 1 && !is_stored_already(operand))
        wanted[operand.index()] = true;
    }
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      if (!wanted[i]) continue;
      const Value value{static_cast<std::int32_t>(i)};
      const bool earlier = level_[i] < s && !is_computed_again(i);
      if (is_stored_already(value) || earlier) {
        inputs_[s].push_back(value);
        if (earlier) keep(value);
        continue;
      }
      for (const Value input : graph_.nodes[i].inputs) wanted[input.index()] = true;
    }
    std::reverse(inputs_[s].begin(), inputs_[s].end());
  }

  [[nodiscard]] bool is_stored_already(Value value) const {
    return is<op::Parameter>(graph_.node(value)) || is<op::AllReduce>(graph_.node(value));
  }

  void keep(Value value) {
    if (place_[value.index()]) return;
    place_[value.index()] = temporary(value);
    requests_[level_[value.index()]].push_back({value, *place_[value.index()]});
  }

  // An operand with no later use is written where its sum is to be.
  void place_operands() {
    for (const Value sum : sums_) {
      const Value operand = graph_.node(sum).inputs[0];
      std::optional<Place>& place = place_[operand.index()];
      if (place) continue;
      const auto sums_of_it = std::count_if(sums_.begin(), sums_.end(), [&](Value other) {
        return graph_.node(other).inputs[0] == operand;
      });
      place = sums_of_it == 1 ? *place_[sum.index()] : temporary(operand);
      requests_[level_[operand.index()]].push_back({operand, *place});
    }
  }

  void make_stages() {
    for (std::size_t s = 0; s < requests_.size(); ++s) {
      Stage stage;
      std::vector<Value> outputs;
      for (const Request& request : requests_[s]) {
        outputs.push_back(request.value);
        stage.outputs.push_back(request.place);
      }
      for (const Value input : inputs_[s]) stage.parameters.push_back(*place_[input.index()]);
      if (!outputs.empty()) stage.graph = graph::extract(graph_, inputs_[s], outputs);
      for (const Value sum : sums_) {
        if (level_[sum.index()] != s + 1) continue;
        const Value operand = graph_.node(sum).inputs[0];
        stage.sums.push_back({*place_[operand.index()], *place_[sum.index()],
                              std::get<op::AllReduce>(graph_.node(sum).op), elements(sum)});
      }
      plan_.stages.push_back(std::move(stage));
    }
  }

  const graph::Graph& graph_;
  std::vector<std::size_t> level_;  // sums over devices on the longest way to each node
  std::vector<bool> constant_;      // follows from no parameter and no sum
  std::vector<bool> needed_;
  std::vector<Value> sums_;  // those needed, in order
  std::vector<std::optional<Place>> place_;
  std::vector<std::vector<Request>> requests_;  // per stage: what it must store
  std::vector<std::vector<Value>> inputs_;      // per stage: what it reads
  StagePlan plan_;
};

}  // namespace

StagePlan plan_stages(const graph::Graph& graph) { return Planner(graph).run(); }

}  // namespace trainward::n300
