#include "trainer/model/llama/llama_config.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "trainer/model/huggingface/config_reader.hpp"
#include "trainer/model/llama/llama.hpp"
#include "trainer/model/llama/lora_config.hpp"
#include "trainer/model/llama/rope_config.hpp"

namespace trainward::trainer {
namespace {

// One kind of model_type, and what its class has where the file says nothing.
struct Family {
  std::string_view type;
  std::string_view architecture;
  std::int64_t kv_heads = 0;  // 0: as many as heads
  std::int64_t inner = 0;     // 0: must be said
  std::int64_t window = 0;
  std::int64_t head_width = 0;  // 0: width / heads
  bool qkv_biases = false;
  bool qk_norms = false;
};
constexpr std::array families{
    Family{"llama", "LlamaForCausalLM", 0, 11008},
    Family{"mistral", "MistralForCausalLM", 8, 14336, 4096},
    Family{"qwen2", "Qwen2ForCausalLM", 32, 22016, 4096, 0, true},
    Family{"qwen3", "Qwen3ForCausalLM", 32, 22016, 4096, 128, false, true},
};

Result<const Family*> family_of(const ConfigReader& config) {
  const std::string type = config.text("model_type");
  for (const Family& family : families) {
    if (family.type == type) return &family;
  }
  return config.refuse("model_type", fmt::format("is '{}', which is not of the Llama family", type),
                       fmt::format("they are {}", fmt::join(llama_types(), ", ")));
}

constexpr std::array limits{SizeLimit{"hidden_size", &ModelSpec::width, 1 << 20},
                            SizeLimit{"num_hidden_layers", &ModelSpec::layers, 1 << 12},
                            SizeLimit{"num_attention_heads", &ModelSpec::heads, 1 << 12},
                            SizeLimit{"vocab_size", &ModelSpec::vocabulary, 1 << 24}};
constexpr std::int64_t most_inner = 1 << 22;
constexpr std::int64_t most_head_width = 1 << 12;

Status check_sizes(const ConfigReader& config, const ModelSpec& model) {
  if (auto ok = config.check_sizes(model, limits); !ok) return ok;
  if (llama_part(model).inner > most_inner) {
    return config.refuse("intermediate_size", fmt::format("is above {}", most_inner), "");
  }
  const std::int64_t width = model.own_head_width;
  if (width > most_head_width) {
    return config.refuse("head_dim", fmt::format("is above {}", most_head_width), "");
  }
  if (width < 2 || width % 2 != 0) {
    return config.refuse(
        "head_dim", fmt::format("is {}, and heads need an even width above 0", width),
        config.has("head_dim") ? "" : "it is hidden_size / num_attention_heads here");
  }
  const std::int64_t groups = llama_part(model).kv_heads;
  if (groups < 1) return config.refuse("num_key_value_heads", "is not a whole number above 0", "");
  if (model.heads % groups != 0) {
    return config.refuse(
        "num_key_value_heads",
        fmt::format("is {}, which does not divide num_attention_heads {}", groups, model.heads),
        config.has("num_key_value_heads") ? "" : "it is not said, and this is the class's default");
  }
  return {};
}

// Newer files say of each layer how far it sees.
Status check_layer_types(const ConfigReader& config, const json::object& object) {
  if (!config.has("layer_types")) return {};
  const json::value& types = object.at("layer_types");
  if (!types.is_array()) return config.refuse("layer_types", "is not a list", "");
  for (const json::value& type : types.get_array()) {
    const std::string name = type.is_string() ? std::string(view(type.get_string())) : "?";
    if (name == "full_attention" || name == "sliding_attention") continue;
    return config.refuse("layer_types", fmt::format("has '{}', which is not built here", name),
                         "take another model of the family");
  }
  return {};
}

// What is in the file and would be passed over silently otherwise.
Status check_extras(const ConfigReader& config) {
  constexpr std::array experts{"num_local_experts", "num_experts", "n_routed_experts"};
  for (const std::string_view key : experts) {
    if (config.whole(key, 0) > 1) {
      return config.refuse(key, "asks for a mixture of experts, which is not built here",
                           "take a dense model of the family");
    }
  }
  if (config.has("quantization_config")) {
    return config.refuse("quantization_config", "says that the weights are quantised",
                         "take the model's folder with weights in bf16, f16 or f32");
  }
  if (const std::string act = config.text("hidden_act", "silu"); act != "silu") {
    return config.refuse("hidden_act", fmt::format("is '{}'", act), "only silu is built");
  }
  if (config.whole("pretraining_tp", 1) > 1) {
    return config.refuse("pretraining_tp", "is above 1", "write 1, if the weights are whole");
  }
  for (const std::string_view key : {"attention_dropout", "partial_rotary_factor"}) {
    const double usual = key == "attention_dropout" ? 0 : 1;
    if (config.number(key, usual) != usual) {
      return config.refuse(key, fmt::format("is {}", config.number(key, usual)),
                           fmt::format("only {} is built", usual));
    }
  }
  if (config.has("no_rope_layers") || config.has("no_rope_layer_interval")) {
    return config.refuse("no_rope_layers",
                         "leaves some layers without positions, which is not built",
                         "take another model of the family");
  }
  return {};
}

// Tokens that a token sees; 0: all of the text. A window has no effect on texts that fit into it.
std::int64_t window_of(const ConfigReader& config, const Family& family) {
  const bool told = family.type != "qwen2" && family.type != "qwen3";
  if (!told && !config.flag("use_sliding_window", false)) return 0;
  return config.whole_or_null("sliding_window", family.window);
}

const Family& family_of(const LlamaSpec& llama) {
  if (llama.qk_norms) return families[3];
  return families[llama.qkv_biases && !llama.output_bias ? 2 : 0];
}

constexpr auto types = [] {
  std::array<std::string_view, families.size()> names;
  std::ranges::transform(families, names.begin(), &Family::type);
  return names;
}();

}  // namespace

std::span<const std::string_view> llama_types() { return types; }

Result<ModelSpec> read_llama_config(const json::object& object, std::string_view where,
                                    int edition) {
  const ConfigReader config(object, std::string(where));
  auto family = family_of(config);
  if (!family) return propagate(family);
  if (auto ok = check_extras(config); !ok) return propagate(ok);
  if (auto ok = check_layer_types(config, object); !ok) return propagate(ok);
  ModelSpec model;
  model.architecture = find_architecture("llama").value();
  model.width = config.whole("hidden_size", 4096);
  model.layers = config.whole("num_hidden_layers", 32);
  model.heads = config.whole("num_attention_heads", 32);
  model.vocabulary = config.whole("vocab_size", 0);
  model.positions = config.whole("max_position_embeddings", 2048);
  model.tied = config.flag("tie_word_embeddings", false);
  LlamaSpec& llama = llama_part(model);
  llama.inner = config.whole("intermediate_size", (*family)->inner);
  const std::int64_t usual_kv = (*family)->kv_heads > 0 ? (*family)->kv_heads : model.heads;
  llama.kv_heads = config.has("num_key_value_heads") || !config.names("num_key_value_heads")
                       ? config.whole("num_key_value_heads", usual_kv)
                       : model.heads;
  const std::int64_t own_width = (*family)->head_width;
  if (own_width > 0 && config.names("head_dim") && !config.has("head_dim")) {
    return config.refuse("head_dim", "is null, which readers take for different widths",
                         "write the width of a head, or leave the key out");
  }
  const std::int64_t even = model.width / std::max<std::int64_t>(model.heads, 1);
  model.own_head_width = config.whole("head_dim", own_width > 0 ? own_width : even);
  llama.norm_epsilon = config.number("rms_norm_eps", 1e-6);
  auto rope = read_rope(config, edition);
  if (!rope) return propagate(rope);
  llama.rope = *rope;
  model.window = window_of(config, **family);
  const bool biases = config.flag("attention_bias", false);
  llama.qkv_biases = (*family)->qkv_biases || biases;
  llama.output_bias = (*family)->type != "qwen2" && biases;
  llama.mlp_biases = config.flag("mlp_bias", false);
  llama.qk_norms = (*family)->qk_norms;
  llama.deviation = config.number("initializer_range", 0.02);
  model.rank = model.own_head_width;
  if (auto ok = config.finish(); !ok) return propagate(ok);
  if (auto ok = check_sizes(config, model); !ok) return propagate(ok);
  if (auto ok = check_llama(model, 2); !ok) {
    ok.error().where = where;
    return propagate(ok);
  }
  return model;
}

json::object llama_config(const ModelSpec& model) {
  const LlamaSpec llama = llama_part(model);
  const Family& family = family_of(llama);
  json::object config{{"architectures", json::array{std::string(family.architecture)}},
                      {"attention_bias", llama.output_bias},
                      {"head_dim", model.own_head_width},
                      {"hidden_act", "silu"},
                      {"hidden_size", model.width},
                      {"initializer_range", llama.deviation},
                      {"intermediate_size", llama.inner},
                      {"max_position_embeddings", model.positions},
                      {"mlp_bias", llama.mlp_biases},
                      {"model_type", std::string(family.type)},
                      {"num_attention_heads", model.heads},
                      {"num_hidden_layers", model.layers},
                      {"num_key_value_heads", llama.kv_heads},
                      {"rms_norm_eps", llama.norm_epsilon},
                      {"rope_theta", llama.rope.theta},
                      {"tie_word_embeddings", model.tied},
                      {"torch_dtype", "float32"},
                      {"vocab_size", model.vocabulary}};
  if (llama.rope.scaling != RopeSpec::Scaling::none) {
    config["rope_scaling"] = rope_scaling(llama.rope);
  }
  if (model.window > 0) {
    config["sliding_window"] = model.window;
    config["use_sliding_window"] = true;
  }
  return config;
}

Result<ModelSpec> llama_of(const Shapes& /*shapes*/, const json::object& facts,
                           std::int64_t vocabulary) {
  auto config = get_object(facts, "config");
  if (!config) {
    return fail(ErrorKind::usage, "does not say which config.json it was trained with",
                std::string(in_checkpoint), "this is not a complete model of the Llama family");
  }
  // Whatever it says, the run that wrote it has read it so.
  auto model = read_llama_config(**config, in_checkpoint, 1);
  if (!model) return model;
  if (vocabulary > model->vocabulary) {
    return fail(
        ErrorKind::usage,
        fmt::format("the model has {} tokens, and the tokenizer {}", model->vocabulary, vocabulary),
        std::string(in_checkpoint), "name the tokenizer that the model was trained with");
  }
  if (const auto lora = get_object(facts, "lora"); lora) {
    auto adapters = read_lora(**lora, in_checkpoint);
    if (!adapters) return propagate(adapters);
    model->lora = *adapters;
  }
  return model;
}

Status check_llama(const ModelSpec& model, std::int64_t block_size) {
  const LlamaSpec llama = llama_part(model);
  const auto no = [](std::string what, std::string cure = {}) -> Status {
    return fail(ErrorKind::usage, std::move(what), {}, std::move(cure));
  };
  if (llama.inner < 1 || model.own_head_width < 2 || model.own_head_width % 2 != 0 ||
      llama.kv_heads < 1) {
    return no("a Llama needs sizes above 0, and heads of an even width");
  }
  if (model.heads % llama.kv_heads != 0) {
    return no(fmt::format("{} heads of queries cannot share {} of keys and values", model.heads,
                          llama.kv_heads));
  }
  if (!(llama.norm_epsilon > 0) || !(llama.rope.theta > 1) || !std::isfinite(llama.rope.theta)) {
    return no("rms_norm_eps must be above 0, and rope_theta above 1");
  }
  if (model.lora.used()) {
    if (auto ok = check_lora(model.lora); !ok) return ok;
  }
  if (model.positions > 0 && block_size > model.positions) {
    return no(fmt::format("a block_size of {} is longer than the {} positions the model knows",
                          block_size, model.positions),
              fmt::format("make it {} or less", model.positions));
  }
  if (model.window > 0 && block_size > model.window) {
    return no(fmt::format("a block_size of {} is longer than the model's sliding window of {}, "
                          "which is not built",
                          block_size, model.window),
              fmt::format("make it {} or less", model.window));
  }
  return {};
}

}  // namespace trainward::trainer
