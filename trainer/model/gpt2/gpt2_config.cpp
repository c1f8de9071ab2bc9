#include "trainer/model/gpt2/gpt2_config.hpp"

#include <algorithm>
#include <array>

#include "trainer/model/architecture.hpp"
#include "trainer/model/huggingface/config_reader.hpp"

namespace trainward::trainer {
namespace {

constexpr std::array gpt2_limits{SizeLimit{"n_embd", &ModelSpec::width, 1 << 20},
                                 SizeLimit{"n_layer", &ModelSpec::layers, 1 << 12},
                                 SizeLimit{"n_head", &ModelSpec::heads, 1 << 12},
                                 SizeLimit{"n_positions", &ModelSpec::positions, 1 << 24},
                                 SizeLimit{"vocab_size", &ModelSpec::vocabulary, 1 << 24}};

// Flags of the class, and what this implementation has.
struct Fixed {
  std::string_view key;
  bool built;
};
constexpr std::array fixed_flags{
    Fixed{"scale_attn_weights", true}, Fixed{"scale_attn_by_inverse_layer_idx", false},
    Fixed{"add_cross_attention", false}, Fixed{"tie_word_embeddings", true}};

// Both names are the formula of the paper's code.
constexpr std::array<std::string_view, 2> activations{"gelu_new", "gelu_pytorch_tanh"};

Status check_built(const ConfigReader& config) {
  for (const Fixed& flag : fixed_flags) {
    if (config.flag(flag.key, flag.built) == flag.built) continue;
    return config.refuse(flag.key, fmt::format("is {}", !flag.built),
                         fmt::format("only {} is built", flag.built));
  }
  const std::string activation = config.text("activation_function", "gelu_new");
  if (std::ranges::find(activations, activation) == activations.end()) {
    return config.refuse("activation_function", fmt::format("is '{}'", activation),
                         "only gelu_new is built");
  }
  if (config.has("quantization_config")) {
    return config.refuse("quantization_config", "says that the weights are quantised",
                         "take the model's folder with weights in bf16, f16 or f32");
  }
  return {};
}

Status check_gpt2_sizes(const ConfigReader& config, const ModelSpec& model) {
  constexpr std::int64_t most_inner = 1 << 22;
  if (auto ok = config.check_sizes(model, gpt2_limits); !ok) return ok;
  if (model.width % model.heads != 0) {
    return config.refuse(
        "n_head", fmt::format("is {}, which does not divide n_embd {}", model.heads, model.width),
        "");
  }
  if (gpt2_inner(model) > most_inner) {
    return config.refuse("n_inner", fmt::format("is above {}", most_inner), "");
  }
  const double epsilon = model.own.get<Gpt2Spec>().norm_epsilon;
  if (!(epsilon > 0)) return config.refuse("layer_norm_epsilon", "is not above 0", "");
  return {};
}

}  // namespace

Result<ModelSpec> read_gpt2_config(const json::object& object, std::string_view where) {
  const ConfigReader config(object, std::string(where));
  if (auto ok = check_built(config); !ok) return propagate(ok);
  ModelSpec model;
  model.architecture = find_architecture("gpt2").value();
  model.width = config.whole("n_embd", 768);
  model.layers = config.whole("n_layer", 12);
  model.heads = config.whole("n_head", 12);
  model.positions = config.whole("n_positions", 1024);
  model.vocabulary = config.whole("vocab_size", 50257);
  model.tied = true;
  Gpt2Spec& own = model.own.edit<Gpt2Spec>();
  own.inner = config.whole("n_inner", 0);
  own.norm_epsilon = config.number("layer_norm_epsilon", 1e-5);
  own.deviation = config.number("initializer_range", 0.02);
  if (auto ok = config.finish(); !ok) return propagate(ok);
  if (auto ok = check_gpt2_sizes(config, model); !ok) return propagate(ok);
  model.rank = model.head_width();
  return model;
}

// The class takes 50256 for tokens that are not said, which a smaller vocabulary does not have.
json::object gpt2_config(const ModelSpec& model) {
  const auto own = model.own.get<Gpt2Spec>();
  return {{"activation_function", "gelu_new"},
          {"architectures", json::array{"GPT2LMHeadModel"}},
          {"bos_token_id", nullptr},
          {"eos_token_id", nullptr},
          {"initializer_range", own.deviation},
          {"layer_norm_epsilon", own.norm_epsilon},
          {"model_type", "gpt2"},
          {"n_embd", model.width},
          {"n_head", model.heads},
          {"n_inner", gpt2_inner(model)},
          {"n_layer", model.layers},
          {"n_positions", model.positions},
          {"tie_word_embeddings", true},
          {"torch_dtype", "float32"},
          {"vocab_size", model.vocabulary}};
}

}  // namespace trainward::trainer
