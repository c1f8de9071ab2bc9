#include "trainer/model/gpt2/gpt2.hpp"

#include <array>
#include <cmath>

#include "trainer/model/columns.hpp"
#include "trainer/model/gpt2/gpt2_config.hpp"
#include "trainer/model/layers.hpp"

namespace trainward::trainer {
namespace {

using graph::Builder;
using graph::Element;
using graph::Shape;
using graph::Value;

// All published sizes have heads of this width; tensors do not show it.
constexpr std::int64_t usual_head_width = 64;

tl::unexpected<Error> no_gpt2(std::string what) {
  return fail(ErrorKind::usage, std::move(what), "model", "this is not a complete model of GPT-2");
}

// x · weight + bias over the last axis; weight [in, out], of which the devices of a row share
// either `out`, or `in` with x's last axis.
enum class Shared { out, in };
Value dense(Builder& b, const Weights& w, std::string_view name, Shared shared, Value x) {
  const auto last = static_cast<std::int64_t>(b.type(x).shape.size()) - 1;
  Value product = b.dot(x, wide(b, w[fmt::format("{}.weight", name)]), {{}, {}, {last}, {0}});
  if (shared == Shared::in) product = b.sum_columns(product);
  return add_bias(b, product, w[fmt::format("{}.bias", name)]);
}

// Of a parameter of a block.
std::optional<Cut> stacked_cut(std::string_view name, std::int64_t head_width) {
  const std::size_t last = name.ends_with(".weight") ? 1 : 0;
  if (name.starts_with("attn.c_attn.")) return Cut{last, "heads", head_width, 3};
  if (name == "attn.c_proj.weight") return Cut{0, "heads", head_width};
  if (name.starts_with("mlp.c_fc.")) return Cut{last, feed_forward_width};
  if (name == "mlp.c_proj.weight") return Cut{0, feed_forward_width};
  return std::nullopt;
}

Value normed(Builder& b, const ModelSpec& model, const Weights& w, std::string_view name, Value x) {
  return layer_norm(b, x, w[fmt::format("{}.weight", name)], w[fmt::format("{}.bias", name)],
                    model.own.get<Gpt2Spec>().norm_epsilon);
}

void add_norm(std::vector<ParameterInfo>& into, const std::string& name, std::int64_t width) {
  into.push_back({name + ".weight", {width}, Initial::ones});
  into.push_back({name + ".bias", {width}, Initial::zeros});
}

ParameterInfo drawn(std::string name, Shape shape, double deviation) {
  ParameterInfo info{std::move(name), std::move(shape), Initial::normal};
  info.deviation = deviation;
  return info;
}

void add_dense(std::vector<ParameterInfo>& into, const std::string& name, std::int64_t in,
               std::int64_t out, double deviation) {
  into.push_back(drawn(name + ".weight", {in, out}, deviation));
  into.push_back({name + ".bias", {out}, Initial::zeros});
}

// Of a checkpoint. One whose config.json says nothing of its own is a model like any other.
Result<ModelSpec> of_config(const json::object& config, std::int64_t vocabulary) {
  auto model = read_gpt2_config(config, in_checkpoint);
  if (!model) return model;
  if (vocabulary > model->vocabulary) {
    return no_gpt2(fmt::format("the model has {} tokens, and the tokenizer {}", model->vocabulary,
                               vocabulary));
  }
  auto own = model->own.get<Gpt2Spec>();
  if (own.inner == 4 * model->width) own.inner = 0;
  if (own == Gpt2Spec{}) model->own = {};
  return model;
}

class Gpt2 final : public Architecture {
 public:
  [[nodiscard]] std::string_view name() const override { return "gpt2"; }
  [[nodiscard]] std::string_view title() const override { return "GPT-2"; }
  [[nodiscard]] bool always_tied() const override { return true; }

  [[nodiscard]] Status check(const TrainingSpec& spec) const override {
    const ModelSpec& model = spec.model;
    if (model.lora.used()) {
      return fail(ErrorKind::usage, "adapters are built for the Llama family, not for GPT-2", {},
                  "leave training_config.lora out: every weight is then trained");
    }
    if (model.rank != model.head_width()) {
      return fail(ErrorKind::usage, "the heads of a GPT-2 have no rank but their width");
    }
    if (!model.tied) return fail(ErrorKind::usage, "the head of a GPT-2 is tied to its embedding");
    if (spec.block_size > model.positions) {
      return fail(ErrorKind::usage,
                  fmt::format("a block_size of {} is longer than the {} positions of this GPT-2",
                              spec.block_size, model.positions),
                  {}, fmt::format("make it {} or less", model.positions));
    }
    return {};
  }

  // Weights of layers that add to the residual stream start smaller, the more there are of them.
  [[nodiscard]] ModelParameters parameters(const ModelSpec& model,
                                           std::int64_t /*positions*/) const override {
    const double deviation = model.own.get<Gpt2Spec>().deviation;
    const std::int64_t inner = gpt2_inner(model);
    const double adding = deviation / std::sqrt(2 * static_cast<double>(model.layers));
    const std::int64_t d = model.width;
    ModelParameters all;
    all.embedding = {drawn("wte.weight", {model.padded_vocabulary(), d}, deviation),
                     drawn("wpe.weight", {model.positions, d}, deviation)};
    all.embedding[0].live_rows = model.vocabulary;
    all.layer_prefix = "h.{}.";
    add_norm(all.block, "ln_1", d);
    add_dense(all.block, "attn.c_attn", d, 3 * d, deviation);
    add_dense(all.block, "attn.c_proj", d, d, adding);
    add_norm(all.block, "ln_2", d);
    add_dense(all.block, "mlp.c_fc", d, inner, deviation);
    add_dense(all.block, "mlp.c_proj", inner, d, adding);
    for (ParameterInfo& info : all.block) info.cut = stacked_cut(info.name, model.head_width());
    all.embedding[0].cut = Cut{0, padded_tokens};
    add_norm(all.head, "ln_f", d);
    all.shared = {"wte.weight"};
    // A folder's model is tuned as transformers' Trainer does it: vectors do not decay.
    if (model.own.used()) {
      for (auto* part : {&all.embedding, &all.block, &all.head}) {
        for (ParameterInfo& info : *part) info.decays = info.shape.size() > 1;
      }
    }
    return all;
  }

  Value embed(Builder& b, const ModelSpec& model, const Weights& w, Value ids,
              Value first) const override {
    const Value tokens = embedding_rows(b, w["wte.weight"], ids);
    const Shape shape = b.type(tokens).shape;
    if (shape.size() != 3) return tokens;
    if (first.valid()) {
      const graph::Type places{Element::i32, b.type(ids).shape};
      const Value place = b.add(b.iota(places, 1), b.broadcast(first, {}, places.shape));
      return b.add(tokens, wide(b, b.gather_rows(w["wpe.weight"], place)));
    }
    const Value rows = wide(b, b.slice(w["wpe.weight"], {0, 0}, {shape[1], model.width}));
    return b.add(tokens, b.broadcast(rows, {1, 2}, shape));
  }
  QueryKeyValue project(Builder& b, const BlockCall& call, const Weights& w,
                        Value x) const override {
    const Value all = dense(b, w, "attn.c_attn", Shared::out, normed(b, call.model, w, "ln_1", x));
    const Shape shape = b.type(all).shape;
    if (shape.size() != 3) return {};
    const auto part = [&](std::int64_t i) {
      const std::int64_t d = shape[2] / 3;
      return split_heads(b, b.slice(all, {0, 0, i * d}, {shape[0], shape[1], (i + 1) * d}),
                         call.model.head_width());
    };
    const Value q = part(0);
    const Value k = part(1);
    return {q, k, part(2)};
  }
  Value attended(Builder& b, const BlockCall& /*call*/, const Weights& w,
                 Value mixed) const override {
    return dense(b, w, "attn.c_proj", Shared::in, mixed);
  }
  Value rest(Builder& b, const BlockCall& call, const Weights& w, Value x,
             Value attended) const override {
    const Value middle = b.add(x, attended);
    const Value normal = normed(b, call.model, w, "ln_2", middle);
    const Value hidden = gelu(b, dense(b, w, "mlp.c_fc", Shared::out, normal));
    return b.add(middle, dense(b, w, "mlp.c_proj", Shared::in, hidden));
  }
  Value logits(Builder& b, const ModelSpec& model, const Weights& w, Value x) const override {
    return linear(b, normed(b, model, w, "ln_f", x), wide(b, w["wte.weight"]));
  }

  [[nodiscard]] std::string_view token_embedding() const override { return "wte.weight"; }
  [[nodiscard]] Result<ModelSpec> sizes(const Shapes& shapes, const json::object& facts,
                                        std::int64_t vocabulary) const override {
    if (const auto config = get_object(facts, "config")) return of_config(**config, vocabulary);
    const auto tokens = shapes.find("wte.weight");
    const auto positions = shapes.find("wpe.weight");
    for (const auto& found : {tokens, positions}) {
      if (found == shapes.end() || found->second.size() != 2) {
        return no_gpt2("there is no embedding 'wte.weight' with 'wpe.weight'");
      }
    }
    ModelSpec model;
    model.architecture = find_architecture(name()).value();
    model.width = tokens->second[1];
    model.layers = 0;
    while (shapes.contains(fmt::format("h.{}.attn.c_attn.weight", model.layers))) ++model.layers;
    if (model.layers == 0) return no_gpt2("there is no attention 'h.0.attn.c_attn.weight'");
    model.heads = int_or(facts, "heads", model.width / usual_head_width);
    if (model.heads < 1 || model.width % model.heads != 0) {
      return no_gpt2(
          fmt::format("a width of {} does not divide into {} heads", model.width, model.heads));
    }
    model.rank = model.head_width();
    model.positions = positions->second[0];
    model.tied = true;
    model.vocabulary = vocabulary;
    return model;
  }
  [[nodiscard]] json::object facts(const ModelSpec& model) const override {
    return {{"architecture", std::string(name())},
            {"heads", model.heads},
            {"config", gpt2_config(model)},
            {"tensors", checkpoint::huggingface::to_json(tensor_names())}};
  }

  [[nodiscard]] std::span<const std::string_view> model_types() const override {
    static constexpr std::array<std::string_view, 1> types{"gpt2"};
    return types;
  }
  [[nodiscard]] Result<ModelSpec> read_config(const json::object& config, std::string_view where,
                                              int /*edition*/) const override {
    return read_gpt2_config(config, where);
  }
  [[nodiscard]] json::object config_of(const ModelSpec& model) const override {
    return gpt2_config(model);
  }
  // Masks of attention, which old files hold, are called a bias.
  [[nodiscard]] checkpoint::huggingface::TensorNames tensor_names() const override {
    return {"transformer.", {"wte.weight"}, {".attn.bias", ".attn.masked_bias"}};
  }
  [[nodiscard]] std::span<const UsualSize> usual_sizes() const override {
    static constexpr std::array sizes{UsualSize("n_embd", 768), UsualSize("n_layer", 12),
                                      UsualSize("n_positions", 1024)};
    return sizes;
  }
};

}  // namespace

const Architecture& gpt2() {
  static const Gpt2 only;
  return only;
}

}  // namespace trainward::trainer
