#include "trainer/generate/decode_segments.hpp"

#include "trainer/model/architecture.hpp"
#include "trainer/model/training/segments.hpp"

namespace trainward::trainer {
namespace {

using graph::Builder;
using graph::Element;
using graph::Graph;
using graph::Type;
using graph::Value;

class DecodeMaker {
 public:
  DecodeMaker(const ModelSpec& model, const ParameterTable& table, std::int64_t rows)
      : model_(model),
        architecture_(architecture_of(model)),
        table_(table),
        rows_(rows),
        x_{Element::f32, {1, rows, model.width}} {}

  Result<DecodeSegments> make() const {
    DecodeSegments segments;
    auto ok = make_embed(segments.embed);
    if (ok) ok = make_project(segments.project);
    if (ok) ok = make_head(segments.head);
    if (!ok) return propagate(ok);
    return segments;
  }

  // `projected`: what it continues from.
  Result<Graph> make_attend(const Graph& projected, std::int64_t context) const {
    const auto of_context = [&](Value rows) {
      Type type = projected.type(rows);
      type.shape[1] = context;
      return type;
    };
    Builder b;
    const Value x = b.parameter("x", x_);
    const Value q = b.parameter("q", projected.type(projected.outputs[0]));
    const Value keys = b.parameter("keys", of_context(projected.outputs[1]));
    const Value values = b.parameter("values", of_context(projected.outputs[2]));
    const Value first = b.parameter("first", {Element::i32, {}});
    const Weights w = Weights::add(b, table_, table_.block(0));
    const Value mixed =
        causal_attention(b, {q, keys, values}, score_scale(model_.head_width()), {first, {}});
    const BlockCall call{model_};
    const Value attended = architecture_.attended(b, call, w, mixed);
    Graph attend;
    auto ok = finish_segment(b, {architecture_.rest(b, call, w, x, attended)}, attend);
    if (!ok) return propagate(ok);
    return attend;
  }

 private:
  Status make_embed(Graph& into) const {
    Builder b;
    const Value ids = b.parameter("ids", {Element::i32, {1, rows_}});
    const Value first = b.parameter("first", {Element::i32, {}});
    const Weights w = Weights::add(b, table_, table_.embedding);
    return finish_segment(b, {architecture_.embed(b, model_, w, ids, first)}, into);
  }
  Status make_project(Graph& into) const {
    Builder b;
    const Value x = b.parameter("x", x_);
    const Value first = b.parameter("first", {Element::i32, {}});
    const Weights w = Weights::add(b, table_, table_.block(0));
    const auto [q, k, v] = architecture_.project(b, {model_, first}, w, x);
    return finish_segment(b, {q, k, v}, into);
  }
  Status make_head(Graph& into) const {
    Builder b;
    const Value x = b.parameter("x", x_);
    const Weights w = Weights::add(b, table_, table_.head);
    return finish_segment(b, {architecture_.logits(b, model_, w, x)}, into);
  }

  const ModelSpec& model_;
  const Architecture& architecture_;
  const ParameterTable& table_;
  std::int64_t rows_;
  Type x_;
};

}  // namespace

Result<DecodeSegments> make_decode_segments(const ModelSpec& model, const ParameterTable& table,
                                            std::int64_t rows) {
  return DecodeMaker(model, table, rows).make();
}

Result<Graph> make_attend_segment(const ModelSpec& model, const ParameterTable& table,
                                  const DecodeSegments& segments, std::int64_t context) {
  const Graph& project = segments.project;
  const std::int64_t rows = project.type(project.outputs[0]).shape[1];
  return DecodeMaker(model, table, rows).make_attend(project, context);
}

}  // namespace trainward::trainer
