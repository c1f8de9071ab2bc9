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
  DecodeMaker(const ModelSpec& model, std::int64_t rows, std::int64_t context)
      : model_(model),
        architecture_(architecture_of(model)),
        table_(make_parameter_table(model, context)),
        rows_(rows),
        context_(context),
        x_{Element::f32, {1, rows, model.width}} {}

  Result<DecodeSegments> make() const {
    DecodeSegments segments;
    auto ok = make_embed(segments.embed);
    if (ok) ok = make_project(segments.project);
    if (ok) ok = make_attend(segments.project, segments.attend);
    if (ok) ok = make_head(segments.head);
    if (!ok) return propagate(ok);
    return segments;
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
  // `projected`: what it goes on from.
  Status make_attend(const Graph& projected, Graph& into) const {
    const auto of_context = [&](Value rows) {
      Type type = projected.type(rows);
      type.shape[1] = context_;
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
    return finish_segment(b, {architecture_.rest(b, call, w, x, attended)}, into);
  }
  Status make_head(Graph& into) const {
    Builder b;
    const Value x = b.parameter("x", x_);
    const Weights w = Weights::add(b, table_, table_.head);
    return finish_segment(b, {architecture_.logits(b, model_, w, x)}, into);
  }

  const ModelSpec& model_;
  const Architecture& architecture_;
  ParameterTable table_;
  std::int64_t rows_;
  std::int64_t context_;
  Type x_;
};

}  // namespace

Result<DecodeSegments> make_decode_segments(const ModelSpec& model, std::int64_t rows,
                                            std::int64_t context) {
  return DecodeMaker(model, rows, context).make();
}

}  // namespace trainward::trainer
