#include "trainer/model/training/segments.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "trainer/graph/differentiate.hpp"
#include "trainer/graph/passes.hpp"
#include "trainer/graph/products.hpp"
#include "trainer/model/architecture.hpp"
#include "trainer/model/columns.hpp"
#include "trainer/model/layers.hpp"

namespace trainward::trainer {

namespace {

namespace op = graph::op;
using graph::Builder;
using graph::Element;
using graph::Graph;
using graph::Type;
using graph::Value;

// What comes out of an adapter is as large as what it is added to, and cheap.
bool leaves_adapter(const Graph& graph, const graph::Node& node, const LoraSpec& lora) {
  const auto* dot = std::get_if<op::DotGeneral>(&node.op);
  if (dot == nullptr || !lora.used()) return false;
  const graph::Node* weight = &graph.node(node.inputs[1]);
  if (std::holds_alternative<op::Convert>(weight->op)) weight = &graph.node(weight->inputs[0]);
  const auto* parameter = std::get_if<op::Parameter>(&weight->op);
  return parameter != nullptr && parameter->name.ends_with("lora_B.weight");
}

// Values that are costly to compute again, or small.
class WorthKeeping {
 public:
  // Of a graph whose forward pass is that many nodes.
  WorthKeeping(const Graph& graph, std::size_t forward_nodes)
      : graph_(graph), uses_(graph.nodes.size(), 0) {
    for (std::size_t i = 0; i < forward_nodes; ++i) {
      for (const Value input : graph.nodes[i].inputs) ++uses_[input.index()];
    }
    for (std::size_t i = 0; i < forward_nodes; ++i) {
      if (!std::holds_alternative<op::DotGeneral>(graph.nodes[i].op)) continue;
      for (const Value input : graph.nodes[i].inputs) keep_instead_of_tanh(input);
    }
  }

  bool operator()(const graph::Node& node) const {
    // Of a product that others read as bf16 only that.
    if (node.op == graph::Op{op::Convert{Element::bf16}} && !operands_.contains(at(node))) {
      const graph::Node* source = &graph_.node(node.inputs[0]);
      while (std::holds_alternative<op::Transpose>(source->op) ||
             std::holds_alternative<op::Reshape>(source->op)) {
        source = &graph_.node(source->inputs[0]);
      }
      return is_product(*source);
    }
    if (operands_.contains(at(node))) return true;
    if (replaced_.contains(at(node))) return false;
    return is_product(node) || std::holds_alternative<op::Attention>(node.op) ||
           std::holds_alternative<op::Reduce>(node.op) ||
           std::holds_alternative<op::Unary>(node.op);
  }

 private:
  // With what is added to it, a bias or what comes out of an adapter: the sum is as large, and
  // nothing has to be added again.
  [[nodiscard]] bool is_product(const graph::Node& node) const {
    if (std::holds_alternative<op::DotGeneral>(node.op)) return true;
    // The devices would have to exchange it again.
    if (std::holds_alternative<op::AllReduce>(node.op)) return true;
    if (node.op != graph::Op{op::Binary{graph::BinaryKind::add}}) return false;
    return std::any_of(node.inputs.begin(), node.inputs.end(), [this](Value input) {
      return uses_[input.index()] == 1 && is_product(graph_.node(input));
    });
  }

  // Of what an activation is made of and what comes out of it, a product's operand, one is kept.
  // The operand is written anyway; tanh is computed again sooner than it comes from the memory.
  void keep_instead_of_tanh(Value operand) {
    std::vector<Value> pending{operand};
    std::vector<Value> found;
    std::set<Value> seen;
    while (!pending.empty()) {
      const Value value = pending.back();
      pending.pop_back();
      const graph::Node& node = graph_.node(value);
      if (!seen.insert(value).second) continue;
      if (node.type.shape != graph_.type(operand).shape || is_product(node)) continue;
      if (node.op == graph::Op{op::Unary{graph::UnaryKind::tanh}}) found.push_back(value);
      const bool elementwise = std::holds_alternative<op::Binary>(node.op) ||
                               std::holds_alternative<op::Convert>(node.op);
      if (elementwise) pending.insert(pending.end(), node.inputs.begin(), node.inputs.end());
    }
    if (found.empty()) return;
    operands_.insert(operand);
    replaced_.insert(found.begin(), found.end());
  }

  [[nodiscard]] Value at(const graph::Node& node) const {
    return Value{static_cast<std::int32_t>(&node - graph_.nodes.data())};
  }

  const Graph& graph_;
  std::vector<int> uses_;
  std::set<Value> operands_, replaced_;
};

class SegmentMaker {
 public:
  explicit SegmentMaker(const TrainingSpec& spec)
      : spec_(spec),
        model_(spec.model),
        architecture_(architecture_of(model_)),
        table_(share_of(make_parameter_table(model_, spec.positions()), spec.columns)),
        ids_{Element::i32, {spec.batch_size, spec.block_size}},
        x_{Element::f32, {spec.batch_size, spec.block_size, model_.width}} {}

  Result<Segments> make() {
    Segments segments;
    for (Status status : {make_embed(segments), make_block(segments), make_block_evaluate(segments),
                          make_head(segments)}) {
      if (!status) return propagate(status);
    }
    return segments;
  }

 private:
  Weights weights(Builder& b, const Places& which) const { return Weights::add(b, table_, which); }

  Status make_embed(Segments& segments) const {
    Builder forward(graph::Precision::f32, spec_.columns);
    const Value ids = forward.parameter("ids", ids_);
    const Value first = add_first(forward);
    const Weights w = weights(forward, table_.embedding);
    const Value own =
        first.valid() ? forward.sub(ids, forward.broadcast(first, {}, ids_.shape)) : ids;
    const Value x = architecture_.embed(forward, model_, w, own, {});
    const Value dx = forward.parameter("dx", x_);
    const std::vector<Value> gradients =
        graph::differentiate(forward, std::span(&x, 1), std::span(&dx, 1), w.trained());
    std::vector<Value> outputs{x};
    outputs.insert(outputs.end(), gradients.begin(), gradients.end());
    Result<Graph> joint = forward.finish(outputs);
    if (!joint) return propagate(joint);
    std::vector<Value> given{ids};
    if (first.valid()) given.push_back(first);
    std::vector<Value> inputs = given;
    for (const Value weight : w.parameters()) inputs.push_back(weight);
    segments.embed = graph::extract(*joint, inputs, std::vector{x});
    given.push_back(dx);
    segments.embed_backward = graph::extract(*joint, given, gradients);
    return {};
  }

  // The first token that is this device's own, where the devices of a row share them.
  Value add_first(Builder& b) const {
    return spec_.columns > 1 ? b.parameter("first", {Element::i32, {}}) : Value();
  }

  Status make_block(Segments& segments) const {
    Builder b(spec_.precision, spec_.columns);
    std::vector<Value> inputs{b.parameter("x", x_)};
    Value key;
    if (drops(spec_)) inputs.push_back(key = b.parameter("key", {Element::i32, {3}}));
    Value segments_in;
    if (spec_.segmented) inputs.push_back(segments_in = b.parameter("segments", ids_));
    const std::size_t first_weight = inputs.size();
    const Weights w = weights(b, table_.block(0));
    const std::vector<Value> all_weights = w.parameters();
    inputs.insert(inputs.end(), all_weights.begin(), all_weights.end());
    const Value y = block(b, spec_, w, inputs[0], key, segments_in);
    const Value dy = b.parameter("dy", x_);
    const std::vector<Value> trained = w.trained();
    std::vector<Value> wrt{inputs[0]};
    wrt.insert(wrt.end(), trained.begin(), trained.end());
    const std::vector<Value> gradients =
        graph::differentiate(b, std::span(&y, 1), std::span(&dy, 1), wrt);
    std::vector<Value> all{y};
    all.insert(all.end(), gradients.begin(), gradients.end());
    Result<Graph> joint = b.finish(all);
    if (!joint) return propagate(joint);
    cut_block(graph::round_operands(*joint), first_weight, segments);
    return {};
  }

  // `joint`: (x, key?, weights…, dy) -> (y, gradients…).
  void cut_block(const Graph& joint, std::size_t first_weight, Segments& segments) const {
    std::vector<Value> inputs = joint.parameters;
    const Value dy = inputs.back();  // the first node of the backward pass
    inputs.pop_back();
    const std::vector<Value> gradients(joint.outputs.begin() + 1, joint.outputs.end());
    std::vector<Value> kept;
    if (!spec_.recompute) {
      const WorthKeeping worth_keeping(joint, dy.index());
      kept = graph::values_to_keep(joint, gradients, dy.index(), [&](const graph::Node& node) {
        return worth_keeping(node) && !leaves_adapter(joint, node, model_.lora);
      });
    }
    // What is frozen stays as its files have it.
    const auto is_weight = trained_from(first_weight, table_.block(0));
    std::vector<Value> outputs{joint.outputs[0]};
    outputs.insert(outputs.end(), kept.begin(), kept.end());
    segments.block_forward =
        graph::pack_parameters(graph::extract(joint, inputs, outputs), is_weight);
    for (const Value value : kept) segments.kept.push_back(joint.type(value));
    std::vector<Value> cut = inputs;
    cut.insert(cut.end(), kept.begin(), kept.end());
    cut.push_back(dy);
    segments.block_backward =
        graph::pack_parameters(graph::extract(joint, cut, gradients), is_weight);
  }

  Status make_block_evaluate(Segments& segments) const {
    Builder b(spec_.precision, spec_.columns);
    const Value x = b.parameter("x", x_);
    Value segments_in;
    if (spec_.segmented) segments_in = b.parameter("segments", ids_);
    const std::size_t first_weight = spec_.segmented ? 2 : 1;
    const Places places = table_.block(0);
    const Weights w = weights(b, places);
    return finish_segment(b, {block(b, spec_, w, x, {}, segments_in)}, segments.block_evaluate,
                          trained_from(first_weight, places));
  }

  Status make_head(Segments& segments) const {
    Builder b(spec_.precision, spec_.columns);
    spec_.weighted ? add_weighted_predictions(b) : add_ids(b);
    const Vocabulary vocabulary{model_.vocabulary, add_first(b)};
    const Value x = b.parameter("x", spec_.weighted ? piece_of_x() : x_);
    const Weights w = weights(b, table_.head);
    const Value loss =
        spec_.weighted ? weighted_loss(b, w, x, vocabulary) : mean_loss(b, w, x, vocabulary);
    const auto packable = trained_from(head_inputs(spec_) + 1, table_.head);
    if (auto ok = finish_segment(b, {loss}, segments.head_evaluate, packable); !ok) return ok;
    const std::vector<Value> trained = w.trained();
    std::vector<Value> wrt{x};
    wrt.insert(wrt.end(), trained.begin(), trained.end());
    double each = spec_.weighted ? 1 : 1 / static_cast<double>(spec_.batches_per_step());
    each /= static_cast<double>(spec_.columns);  // of which each begins with a share
    const Value share = b.constant_like(each, loss);
    std::vector<Value> outputs =
        graph::differentiate(b, std::span(&loss, 1), std::span(&share, 1), wrt);
    outputs.insert(outputs.begin(), loss);
    return finish_segment(b, outputs, segments.head, packable);
  }

  void add_ids(Builder& b) const { b.parameter("ids", ids_); }
  void add_weighted_predictions(Builder& b) const {
    const graph::Shape rows = rows_of_head();
    b.parameter("targets", {Element::i32, rows});
    b.parameter("weights", {Element::f32, rows});
  }
  [[nodiscard]] graph::Shape rows_of_head() const {
    graph::Shape rows{1, head_rows(spec_)};
    return rows[1] == graph::element_count(ids_.shape) ? ids_.shape : rows;
  }
  [[nodiscard]] Type piece_of_x() const {
    const graph::Shape rows = rows_of_head();
    return {Element::f32, {rows[0], rows[1], model_.width}};
  }

  // The last position of each sequence predicts nothing.
  [[nodiscard]] Value mean_loss(Builder& b, const Weights& w, Value x,
                                const Vocabulary& vocabulary) const {
    const Value ids = b.graph().parameters[0];
    const std::int64_t batch = x_.shape[0];
    const std::int64_t positions = x_.shape[1];
    const Value predicting = b.slice(x, {0, 0, 0}, {batch, positions - 1, model_.width});
    const Value targets = b.slice(ids, {0, 1}, {batch, positions});
    const Value logits = architecture_.logits(b, model_, w, predicting);
    return cross_entropy(b, logits, targets, vocabulary, spec_.label_smoothing);
  }
  [[nodiscard]] Value weighted_loss(Builder& b, const Weights& w, Value x,
                                    const Vocabulary& vocabulary) const {
    const Value logits = architecture_.logits(b, model_, w, x);
    return weighted_cross_entropy(b, logits, b.graph().parameters[0], b.graph().parameters[1],
                                  vocabulary, spec_.label_smoothing);
  }

  // Of the parameters from `first` on, which are these, those that are trained.
  [[nodiscard]] std::function<bool(std::size_t)> trained_from(std::size_t first,
                                                              const Places& which) const {
    return [this, first, which](std::size_t k) {
      return k >= first && k - first < which.size() && table_.infos[which[k - first]].trained();
    };
  }

  const TrainingSpec& spec_;
  const ModelSpec& model_;
  const Architecture& architecture_;
  ParameterTable table_;
  Type ids_;
  Type x_;
};

}  // namespace

Result<Segments> make_segments(const TrainingSpec& spec) { return SegmentMaker(spec).make(); }

bool drops(const TrainingSpec& spec) { return spec.dropout > 0 || spec.model.lora.dropout > 0; }

std::size_t head_inputs(const TrainingSpec& spec) {
  return (spec.weighted ? 2U : 1U) + (spec.columns > 1 ? 1U : 0U);
}

std::int64_t head_rows(const TrainingSpec& spec) {
  // A few hundred rows keep the products busy; the logits and their gradient are this large.
  constexpr std::int64_t least = 64;
  constexpr std::int64_t too_few = 16;  // for products worth the name
  const std::int64_t positions = spec.batch_size * spec.block_size;
  const std::int64_t most = std::max(least, spec.head_logits / spec.model.padded_vocabulary());
  std::int64_t pieces = (positions + most - 1) / most;
  while (positions % pieces != 0) ++pieces;
  // Positions that nothing divides, such as one text of 1,021 tokens, go through whole.
  return positions / pieces < too_few ? positions : positions / pieces;
}

std::int64_t head_pieces(const TrainingSpec& spec) {
  return spec.weighted ? spec.batch_size * spec.block_size / head_rows(spec) : 1;
}

Status finish_segment(const graph::Builder& b, const std::vector<graph::Value>& outputs,
                      graph::Graph& into, const std::function<bool(std::size_t)>& may_pack) {
  Result<graph::Graph> graph = b.finish(outputs);
  if (!graph) return propagate(graph);
  into = graph::pack_parameters(graph::simplify(graph::round_operands(*graph)), may_pack);
  return {};
}

}  // namespace trainward::trainer
