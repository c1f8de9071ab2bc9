#include "trainer/model/decode_segments.hpp"

#include "trainer/model/block.hpp"
#include "trainer/model/layers.hpp"
#include "trainer/model/parameters.hpp"
#include "trainer/model/segment_parts.hpp"

namespace trainward::trainer {
namespace {

using graph::Builder;
using graph::Element;
using graph::Graph;
using graph::Type;
using graph::Value;

class Maker {
 public:
  Maker(const ModelSpec& model, std::int64_t rows, std::int64_t context)
      : model_(model),
        table_(make_parameter_table(model)),
        rows_(rows),
        context_(context),
        x_{Element::f32, {1, rows, model.width}} {}

  Result<DecodeSegments> make() const {
    DecodeSegments segments;
    for (Status status : {make_embed(segments.embed), make_project(segments.project),
                          make_attend(segments.attend), make_head(segments.head)}) {
      if (!status) return propagate(status);
    }
    return segments;
  }

 private:
  std::vector<Value> parameters(Builder& b, const std::vector<std::size_t>& which) const {
    return add_parameters(b, table_, which);
  }
  [[nodiscard]] Type per_head(std::int64_t rows, std::int64_t width) const {
    return {Element::f32, {1, rows, model_.heads, width}};
  }

  Status make_embed(Graph& into) const {
    Builder b;
    const Value ids = b.parameter("ids", {Element::i32, {1, rows_}});
    const Value table = parameters(b, {table_.embedding()})[0];
    return finish_segment(b, {b.gather_rows(table, ids)}, into);
  }
  Status make_project(Graph& into) const {
    Builder b;
    const Value x = b.parameter("x", x_);
    const std::vector<Value> p = parameters(b, table_.block(0));
    const auto [q, k, v] = project(b, attention_input(b, x, p), attention_weights(p), model_.heads);
    return finish_segment(b, {q, k, v}, into);
  }
  Status make_attend(Graph& into) const {
    Builder b;
    const Value x = b.parameter("x", x_);
    const Value q = b.parameter("q", per_head(rows_, model_.score_width()));
    const Value keys = b.parameter("keys", per_head(context_, model_.score_width()));
    const Value values = b.parameter("values", per_head(context_, model_.head_width()));
    const Value first = b.parameter("first", {Element::i32, {}});
    const std::vector<Value> p = parameters(b, table_.block(0));
    const Value mixed =
        causal_attention(b, {q, keys, values}, score_scale(model_.width, model_.heads), first);
    const Value attended = linear(b, mixed, attention_weights(p).proj);
    return finish_segment(b, {after_attention(b, x, attended, p)}, into);
  }
  Status make_head(Graph& into) const {
    Builder b;
    const Value x = b.parameter("x", x_);
    return finish_segment(b, {head_logits(b, x, parameters(b, table_.head()))}, into);
  }

  const ModelSpec& model_;
  ParameterTable table_;
  std::int64_t rows_;
  std::int64_t context_;
  Type x_;
};

}  // namespace

Result<DecodeSegments> make_decode_segments(const ModelSpec& model, std::int64_t rows,
                                            std::int64_t context) {
  return Maker(model, rows, context).make();
}

}  // namespace trainward::trainer
