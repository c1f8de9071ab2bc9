#include "trainer/model/llama/llama.hpp"

#include <array>

#include "trainer/model/columns.hpp"
#include "trainer/model/layers.hpp"
#include "trainer/model/llama/llama_config.hpp"
#include "trainer/model/llama/lora_config.hpp"
#include "trainer/model/llama/rope.hpp"

namespace trainward::trainer {
namespace {

using graph::Builder;
using graph::Element;
using graph::Shape;
using graph::Value;

constexpr std::string_view embedding_name = "model.embed_tokens.weight";
constexpr std::string_view head_name = "lm_head.weight";
constexpr std::string_view cosines_name = "rope.cosines";
constexpr std::string_view sines_name = "rope.sines";

Value norm(Builder& b, const ModelSpec& model, const Weights& w, std::string_view name, Value x) {
  return rms_norm(b, x, wide(b, w[fmt::format("{}.weight", name)]), llama_part(model).norm_epsilon);
}

// Whether the devices of a row share a product's inputs, and not its outputs.
bool shares_inputs(Linear which) { return which == Linear::o || which == Linear::down; }

Cut product_cut(const ModelSpec& model, Linear which) {
  const std::size_t axis = shares_inputs(which) ? 1 : 0;
  switch (which) {
    case Linear::q:
    case Linear::o:
      return {axis, "heads", model.head_width()};
    case Linear::k:
    case Linear::v:
      return {axis, "heads of keys", model.head_width()};
    default:
      return {axis, feed_forward_width};
  }
}

// What the adapter of a product adds to it.
Value adapted(Builder& b, const BlockCall& call, const Weights& w, Linear which, Value x) {
  const std::string_view name = place_of(which);
  const LoraSpec& lora = call.model.lora;
  Value in = x;
  if (call.key.valid() && lora.dropout > 0) {
    in = dropout(b, x, call.key, lora.dropout,
                 {.row = call.row, .salt = static_cast<std::int32_t>(which) + 1});
  }
  const Value low = linear(b, in, w[fmt::format("{}.lora_A.weight", name)]);
  // Scaled where it is smallest; what comes out is then added to the rest by the product itself.
  return linear(b, b.scale(low, lora.scale()), w[fmt::format("{}.lora_B.weight", name)]);
}

// x · weightᵀ + bias + what the adapter adds.
Value dense(Builder& b, const BlockCall& call, const Weights& w, Linear which, Value x) {
  Value y = linear(b, x, wide(b, w[fmt::format("{}.weight", place_of(which))]));
  // Once, and not on each device of a row.
  const bool sums = b.columns() > 1 && shares_inputs(which);
  const auto add_own_bias = [&] {
    const std::string bias = fmt::format("{}.bias", place_of(which));
    if (w.contains(bias)) y = add_bias(b, y, wide(b, w[bias]));
  };
  if (!sums) add_own_bias();
  if (call.model.lora.adapts(which)) y = b.add(y, adapted(b, call, w, which, x));
  if (!sums) return y;
  y = b.sum_columns(y);
  add_own_bias();
  return y;
}

// The parameters of one model.
class Parameters {
 public:
  Parameters(const ModelSpec& model, std::int64_t positions)
      : model_(model), positions_(positions) {}

  ModelParameters make() {
    const LlamaSpec llama = llama_part(model_);
    const std::int64_t d = model_.width;
    const std::int64_t queries = model_.heads * model_.head_width();
    const std::int64_t keys = llama.kv_heads * model_.head_width();
    all_.embedding.push_back(tokens(embedding_name));
    all_.layer_prefix = "model.layers.{}.";
    norm("input_layernorm", d);
    dense(Linear::q, queries, d, llama.qkv_biases);
    dense(Linear::k, keys, d, llama.qkv_biases);
    dense(Linear::v, keys, d, llama.qkv_biases);
    if (llama.qk_norms) norm("self_attn.q_norm", model_.head_width());
    if (llama.qk_norms) norm("self_attn.k_norm", model_.head_width());
    dense(Linear::o, d, queries, llama.output_bias);
    norm("post_attention_layernorm", d);
    dense(Linear::gate, llama.inner, d, llama.mlp_biases);
    dense(Linear::up, llama.inner, d, llama.mlp_biases);
    dense(Linear::down, d, llama.inner, llama.mlp_biases);
    all_.head.push_back(base("model.norm.weight", {d}, Initial::ones));
    if (model_.tied) all_.shared = {std::string(embedding_name)};
    if (!model_.tied) all_.head.push_back(tokens(head_name));
    for (const std::string_view name : {cosines_name, sines_name}) {
      ParameterInfo table{std::string(name), {positions_, model_.head_width() / 2}};
      table.role = Role::table;
      all_.tables.push_back(std::move(table));
    }
    return std::move(all_);
  }

 private:
  // Vectors neither decay nor are they kept as anything but f32: they cost nothing.
  [[nodiscard]] ParameterInfo base(std::string name, Shape shape, Initial initial) const {
    ParameterInfo info{std::move(name), std::move(shape), initial};
    info.deviation = llama_part(model_).deviation;
    info.decays = info.shape.size() > 1;
    if (model_.lora.used()) {
      info.role = Role::frozen;
      if (info.shape.size() > 1) info.element = model_.frozen;
    }
    return info;
  }
  [[nodiscard]] ParameterInfo tokens(std::string_view name) const {
    ParameterInfo info =
        base(std::string(name), {model_.padded_vocabulary(), model_.width}, Initial::normal);
    info.live_rows = model_.vocabulary;
    info.cut = Cut{0, padded_tokens};
    return info;
  }
  void norm(std::string_view name, std::int64_t width) {
    all_.block.push_back(base(fmt::format("{}.weight", name), {width}, Initial::ones));
  }
  void dense(Linear which, std::int64_t out, std::int64_t in, bool bias) {
    const std::string_view name = place_of(which);
    const Cut cut = product_cut(model_, which);
    const auto add = [&](ParameterInfo info, bool is_cut) {
      if (is_cut) info.cut = cut;
      all_.block.push_back(std::move(info));
    };
    const bool outputs = !shares_inputs(which);
    add(base(fmt::format("{}.weight", name), {out, in}, Initial::normal), true);
    if (bias) add(base(fmt::format("{}.bias", name), {out}, Initial::zeros), outputs);
    if (!model_.lora.adapts(which)) return;
    const std::int64_t rank = model_.lora.rank;
    add({fmt::format("{}.lora_A.weight", name), {rank, in}, Initial::uniform, in}, !outputs);
    add({fmt::format("{}.lora_B.weight", name), {out, rank}, Initial::zeros}, outputs);
  }

  const ModelSpec& model_;
  std::int64_t positions_;
  ModelParameters all_;
};

class Llama final : public Architecture {
 public:
  [[nodiscard]] std::string_view name() const override { return "llama"; }
  [[nodiscard]] std::string_view title() const override { return "Llama"; }
  [[nodiscard]] Status check(const TrainingSpec& spec) const override {
    return check_llama(spec.model, spec.block_size);
  }
  [[nodiscard]] ModelParameters parameters(const ModelSpec& model,
                                           std::int64_t positions) const override {
    return Parameters(model, positions).make();
  }
  void fill_table(const ModelSpec& model, const ParameterInfo& table,
                  std::span<float> values) const override {
    fill_rope(table.name == cosines_name ? RopeTable::cosines : RopeTable::sines,
              llama_part(model).rope, model.head_width(), values);
  }
  [[nodiscard]] bool drops_by_token() const override { return true; }

  Value embed(Builder& b, const ModelSpec& /*model*/, const Weights& w, Value ids,
              Value /*first*/) const override {
    return embedding_rows(b, w[embedding_name], ids);
  }

  QueryKeyValue project(Builder& b, const BlockCall& call, const Weights& w,
                        Value x) const override {
    const ModelSpec& model = call.model;
    const Value normal = norm(b, model, w, "input_layernorm", x);
    const auto heads = [&](Linear which) {
      return split_heads(b, dense(b, call, w, which, normal), model.head_width());
    };
    Value q = heads(Linear::q);
    Value k = heads(Linear::k);
    const Value v = heads(Linear::v);
    if (b.error()) return {};
    if (llama_part(model).qk_norms) {
      q = norm(b, model, w, "self_attn.q_norm", q);
      k = norm(b, model, w, "self_attn.k_norm", k);
    }
    const std::int64_t rows = b.type(x).shape[1];
    const Value cosines = angles(b, w[cosines_name], call.first, rows);
    const Value sines = angles(b, w[sines_name], call.first, rows);
    return {rotate(b, q, cosines, sines), rotate(b, k, cosines, sines), v};
  }
  Value attended(Builder& b, const BlockCall& call, const Weights& w, Value mixed) const override {
    return dense(b, call, w, Linear::o, mixed);
  }
  Value rest(Builder& b, const BlockCall& call, const Weights& w, Value x,
             Value attended) const override {
    const Value middle = b.add(x, attended);
    const Value normal = norm(b, call.model, w, "post_attention_layernorm", middle);
    const Value gate = silu(b, dense(b, call, w, Linear::gate, normal));
    const Value hidden = b.mul(gate, dense(b, call, w, Linear::up, normal));
    return b.add(middle, dense(b, call, w, Linear::down, hidden));
  }
  Value logits(Builder& b, const ModelSpec& model, const Weights& w, Value x) const override {
    const std::string_view head = w.contains(head_name) ? head_name : embedding_name;
    return linear(b, norm(b, model, w, "model.norm", x), wide(b, w[head]));
  }

  [[nodiscard]] std::string_view token_embedding() const override { return embedding_name; }
  [[nodiscard]] Result<ModelSpec> sizes(const Shapes& shapes, const json::object& facts,
                                        std::int64_t vocabulary) const override {
    return llama_of(shapes, facts, vocabulary);
  }
  [[nodiscard]] json::object facts(const ModelSpec& model) const override {
    json::object all{{"architecture", std::string(name())}, {"config", llama_config(model)}};
    if (model.lora.used()) all["lora"] = lora_config(model.lora);
    return all;
  }
  [[nodiscard]] std::span<const std::string_view> model_types() const override {
    return llama_types();
  }
  [[nodiscard]] Result<ModelSpec> read_config(const json::object& config, std::string_view where,
                                              int edition) const override {
    return read_llama_config(config, where, edition);
  }
  [[nodiscard]] json::object config_of(const ModelSpec& model) const override {
    return llama_config(model);
  }
  [[nodiscard]] std::span<const UsualSize> usual_sizes() const override {
    static constexpr std::array sizes{UsualSize("hidden_size", 4096),
                                      UsualSize("num_attention_heads", 32)};
    return sizes;
  }

 private:
  // The rows of a table for tokens from `first` on.
  static Value angles(Builder& b, Value table, Value first, std::int64_t rows) {
    const Shape shape = b.type(table).shape;
    if (!first.valid()) return b.slice(table, {0, 0}, {rows, shape[1]});
    const graph::Type places{Element::i32, {rows}};
    return b.gather_rows(table, b.add(b.iota(places, 0), b.broadcast(first, {}, places.shape)));
  }
};

}  // namespace

std::string_view place_of(Linear which) {
  static constexpr std::array<std::string_view, linears> places{
      "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
      "mlp.gate_proj",    "mlp.up_proj",      "mlp.down_proj"};
  return places[static_cast<std::size_t>(which)];
}

const Architecture& llama() {
  static const Llama only;
  return only;
}

}  // namespace trainward::trainer
