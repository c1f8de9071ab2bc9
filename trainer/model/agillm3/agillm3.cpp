#include "trainer/model/agillm3/agillm3.hpp"

#include "trainer/model/columns.hpp"
#include "trainer/model/layers.hpp"

namespace trainward::trainer {

using graph::Value;

QueryKeyValue project_ranked(graph::Builder& b, graph::Value x, const RankedWeights& weights) {
  const graph::Shape u = b.type(weights.u).shape;
  const auto split = [&](Value y) { return split_heads(b, y, u.empty() ? 0 : u[0]); };
  const Value q = split(linear(b, x, weights.q));
  const Value k = split(linear(b, x, weights.k));
  const Value v = split(linear(b, x, weights.v));
  const auto through = [&](Value y, Value matrix) { return b.dot(y, matrix, {{}, {}, {3}, {0}}); };
  if (u.size() == 2 && u[1] < u[0]) return {through(q, weights.u), through(k, weights.u), v};
  return {through(q, b.dot(weights.u, weights.u, {{}, {}, {1}, {1}})), k, v};
}

namespace {

using graph::Builder;
using graph::Shape;

tl::unexpected<Error> no_agillm3(std::string what) {
  return fail(ErrorKind::usage, std::move(what), "model",
              "this is not a complete model of AGILLM-3");
}

// The size of a tensor that must be a matrix.
Result<Shape> matrix(const Shapes& shapes, std::string_view what, std::string_view name) {
  const auto found = shapes.find(name);
  if (found != shapes.end() && found->second.size() == 2 && found->second[0] > 0) {
    return found->second;
  }
  return no_agillm3(fmt::format("there is no {} '{}'", what, name));
}

// Of a parameter of a block.
std::optional<Cut> ranked_cut(std::string_view name, std::int64_t head_width) {
  if (name == "mha.proj.weight") return Cut{1, "heads", head_width};
  if (name.starts_with("mha.") && name.ends_with(".weight")) return Cut{0, "heads", head_width};
  if (name == "ff.2.weight") return Cut{1, feed_forward_width};
  if (name.starts_with("ff.0.")) return Cut{0, feed_forward_width};
  return std::nullopt;
}

class Agillm3 final : public Architecture {
 public:
  [[nodiscard]] std::string_view name() const override { return "agillm3"; }
  [[nodiscard]] std::string_view title() const override { return "AGILLM-3"; }
  [[nodiscard]] Status check(const TrainingSpec& /*spec*/) const override { return {}; }

  [[nodiscard]] ModelParameters parameters(const ModelSpec& model,
                                           std::int64_t /*positions*/) const override {
    const std::int64_t d = model.width;
    const std::int64_t rows = model.padded_vocabulary();
    using enum Initial;
    ModelParameters all;
    all.embedding = {{"core.emb.weight", {rows, d}, normal, 0, model.vocabulary}};
    all.layer_prefix = "core.blocks.{}.";
    all.block = {{"ln1.weight", {d}, ones},
                 {"ln1.bias", {d}, zeros},
                 {"mha.q.weight", {d, d}, uniform, d},
                 {"mha.k.weight", {d, d}, uniform, d},
                 {"mha.v.weight", {d, d}, uniform, d},
                 {"mha.U", {model.head_width(), model.rank}, orthogonal},
                 {"mha.proj.weight", {d, d}, uniform, d},
                 {"ln2.weight", {d}, ones},
                 {"ln2.bias", {d}, zeros},
                 {"ff.0.weight", {4 * d, d}, uniform, d},
                 {"ff.0.bias", {4 * d}, uniform, d},
                 {"ff.2.weight", {d, 4 * d}, uniform, 4 * d},
                 {"ff.2.bias", {d}, uniform, 4 * d}};
    for (ParameterInfo& info : all.block) info.cut = ranked_cut(info.name, model.head_width());
    all.embedding[0].cut = Cut{0, padded_tokens};
    all.head = {{"core.ln.weight", {d}, ones}, {"core.ln.bias", {d}, zeros}};
    if (model.tied) {
      all.shared = {"core.emb.weight"};
      return all;
    }
    all.head.push_back({"ar.proj.weight", {rows, d}, uniform, d, model.vocabulary});
    all.head.push_back({"ar.proj.bias", {rows}, uniform, d, model.vocabulary});
    for (std::size_t i : {2U, 3U}) {
      all.head[i].rate = RateGroup::head;
      all.head[i].cut = Cut{0, padded_tokens};
    }
    return all;
  }

  Value embed(Builder& b, const ModelSpec& /*model*/, const Weights& w, Value ids,
              Value /*first*/) const override {
    return embedding_rows(b, w["core.emb.weight"], ids);
  }
  QueryKeyValue project(Builder& b, const BlockCall& /*call*/, const Weights& w,
                        Value x) const override {
    const Value normal = layer_norm(b, x, w["ln1.weight"], w["ln1.bias"]);
    return project_ranked(b, normal,
                          {w["mha.q.weight"], w["mha.k.weight"], w["mha.v.weight"], w["mha.U"]});
  }
  Value attended(Builder& b, const BlockCall& /*call*/, const Weights& w,
                 Value mixed) const override {
    return b.sum_columns(linear(b, mixed, w["mha.proj.weight"]));
  }
  Value rest(Builder& b, const BlockCall& /*call*/, const Weights& w, Value x,
             Value attended) const override {
    const Value middle = b.add(x, attended);
    const Value normal = layer_norm(b, middle, w["ln2.weight"], w["ln2.bias"]);
    const Value hidden = relu(b, add_bias(b, linear(b, normal, w["ff.0.weight"]), w["ff.0.bias"]));
    const Value out = b.sum_columns(linear(b, hidden, w["ff.2.weight"]));
    return b.add(middle, add_bias(b, out, w["ff.2.bias"]));
  }
  Value logits(Builder& b, const ModelSpec& /*model*/, const Weights& w, Value x) const override {
    const Value normal = layer_norm(b, x, w["core.ln.weight"], w["core.ln.bias"]);
    if (!w.contains("ar.proj.weight")) return linear(b, normal, w["core.emb.weight"]);
    return add_bias(b, linear(b, normal, w["ar.proj.weight"]), w["ar.proj.bias"]);
  }

  [[nodiscard]] std::string_view token_embedding() const override { return "core.emb.weight"; }
  [[nodiscard]] Result<ModelSpec> sizes(const Shapes& shapes, const json::object& /*facts*/,
                                        std::int64_t vocabulary) const override {
    auto embedding = matrix(shapes, "embedding", "core.emb.weight");
    if (!embedding) return propagate(embedding);
    auto u = matrix(shapes, "attention", "core.blocks.0.mha.U");
    if (!u) return propagate(u);
    ModelSpec model;
    model.width = (*embedding)[1];
    model.heads = model.width / (*u)[0];
    model.rank = (*u)[1];
    model.layers = 0;
    while (shapes.contains(fmt::format("core.blocks.{}.mha.U", model.layers))) ++model.layers;
    model.tied = !shapes.contains("ar.proj.weight");
    model.vocabulary = vocabulary;
    return model;
  }
};

}  // namespace

const Architecture& agillm3() {
  static const Agillm3 only;
  return only;
}

}  // namespace trainward::trainer
