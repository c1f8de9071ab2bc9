// What a config.json means: each key with its default, null and absent apart, both spellings of the
// rotation; what is refused, by its name; and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "trainer/model/architecture.hpp"
#include "trainer/model/llama/llama_config.hpp"
#include "trainer/model/llama/lora_config.hpp"

namespace trainward::trainer {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The smallest that says what has no sensible default.
json::object plain(std::string_view type = "llama") {
  return {{"model_type", type},      {"hidden_size", 64},        {"num_attention_heads", 4},
          {"num_hidden_layers", 2},  {"intermediate_size", 176}, {"vocab_size", 96},
          {"num_key_value_heads", 2}};
}

json::object with(json::object config, std::string_view changes) {
  const json::value parsed = *parse_json(changes, "changes");
  for (const auto& [key, value] : parsed.as_object()) config[key] = value;
  return config;
}
json::object without(json::object config, std::string_view key) {
  config.erase(json::string_view(key.data(), key.size()));
  return config;
}

ModelSpec read(const json::object& config) {
  auto model = read_llama_config(config, "config.json");
  EXPECT_TRUE(model) << model.error().message();
  return model ? *model : ModelSpec{};
}
ModelSpec read(std::string_view changes, std::string_view type = "llama") {
  return read(with(plain(type), changes));
}

std::string refusal(const json::object& config) {
  auto model = read_llama_config(config, "config.json");
  EXPECT_FALSE(model);
  if (model) return {};
  EXPECT_EQ(model.error().kind, ErrorKind::usage);
  EXPECT_EQ(model.error().where.substr(0, 11), "config.json");
  return model.error().message();
}
std::string refusal(std::string_view changes, std::string_view type = "llama") {
  return refusal(with(plain(type), changes));
}

TEST(LlamaConfig, SaysTheSizes) {
  const ModelSpec model = read("{}");
  EXPECT_EQ(architecture_of(model).name(), "llama");
  EXPECT_EQ(model.width, 64);
  EXPECT_EQ(model.layers, 2);
  EXPECT_EQ(model.heads, 4);
  EXPECT_EQ(model.vocabulary, 96);
  EXPECT_EQ(llama_part(model).inner, 176);
  EXPECT_EQ(llama_part(model).kv_heads, 2);
  EXPECT_EQ(model.own_head_width, 16);
  // What nobody said.
  EXPECT_EQ(llama_part(model).norm_epsilon, 1e-6);
  EXPECT_EQ(llama_part(model).rope, RopeSpec{});
  EXPECT_EQ(llama_part(model).rope.theta, 10000);
  EXPECT_EQ(model.positions, 2048);
  EXPECT_EQ(llama_part(model).deviation, 0.02);
  EXPECT_FALSE(model.tied || llama_part(model).qkv_biases || llama_part(model).output_bias ||
               llama_part(model).mlp_biases || llama_part(model).qk_norms);
  EXPECT_EQ(model.window, 0);
  EXPECT_FALSE(model.lora.used());
}

TEST(LlamaConfig, WholeNumbersMayBeWrittenAsFractions) {
  EXPECT_EQ(read(R"({"hidden_size": 64.0})").width, 64);
}

TEST(LlamaConfig, AFamilysDefaultsAreThoseOfItsClass) {
  const auto kv_of = [](std::string_view type, std::int64_t heads) {
    json::object config = without(plain(type), "num_key_value_heads");
    config["num_attention_heads"] = heads;
    config["head_dim"] = 16;
    return llama_part(read(config)).kv_heads;
  };
  EXPECT_EQ(kv_of("llama", 4), 4);
  EXPECT_EQ(kv_of("mistral", 16), 8);
  EXPECT_EQ(kv_of("qwen2", 64), 32);
  EXPECT_EQ(kv_of("qwen3", 64), 32);
  EXPECT_THAT(refusal(without(plain("qwen2"), "num_key_value_heads")),
              HasSubstr("num_key_value_heads is 32, which does not divide"));
  // Null says: as many as heads, for each of them.
  for (const std::string_view type : {"llama", "mistral", "qwen2", "qwen3"}) {
    EXPECT_EQ(llama_part(read(R"({"num_key_value_heads": null})", type)).kv_heads, 4) << type;
    const auto inner = llama_part(read(without(plain(type), "intermediate_size"))).inner;
    EXPECT_EQ(inner, type == "llama" ? 11008 : type == "mistral" ? 14336 : 22016) << type;
  }
  EXPECT_EQ(read(without(without(plain(), "hidden_size"), "num_attention_heads")).width, 4096);
}

TEST(LlamaConfig, HeadsMayBeWiderThanTheirShare) {
  EXPECT_EQ(read(R"({"head_dim": 32})").own_head_width, 32);
  EXPECT_EQ(read(R"({"head_dim": 32})").rank, 32) << "scores are products of whole heads";
  EXPECT_EQ(read(R"({"head_dim": null})").own_head_width, 16);
  EXPECT_EQ(read("{}", "qwen3").own_head_width, 128);
  EXPECT_EQ(read(R"({"head_dim": 16})", "qwen3").own_head_width, 16);
  EXPECT_THAT(refusal(R"({"head_dim": null})", "qwen3"), HasSubstr("head_dim"));
  EXPECT_THAT(refusal(R"({"head_dim": 15})"), HasSubstr("head_dim is 15, and heads need an even"));
  EXPECT_THAT(refusal(R"({"head_dim": 0})"), HasSubstr("above 0"));
  EXPECT_THAT(refusal(R"({"num_key_value_heads": 3})"),
              HasSubstr("num_key_value_heads is 3, which does not divide"));
  EXPECT_THAT(refusal(R"({"num_key_value_heads": 0})"), HasSubstr("above 0"));
}

TEST(LlamaConfig, BiasesAndNormsAreTheFamilys) {
  const auto biases = [](std::string_view changes, std::string_view type) {
    const LlamaSpec llama = llama_part(read(changes, type));
    return std::array{llama.qkv_biases, llama.output_bias, llama.mlp_biases, llama.qk_norms};
  };
  constexpr std::string_view asked = R"({"attention_bias": true})";
  EXPECT_EQ(biases("{}", "qwen2"), (std::array{true, false, false, false}));
  EXPECT_EQ(biases(asked, "qwen2"), (std::array{true, false, false, false}));
  EXPECT_EQ(biases(asked, "llama"), (std::array{true, true, false, false}));
  EXPECT_EQ(biases("{}", "qwen3"), (std::array{false, false, false, true}));
  EXPECT_EQ(biases(asked, "qwen3"), (std::array{true, true, false, true}));
  EXPECT_EQ(biases(R"({"mlp_bias": true})", "llama"), (std::array{false, false, true, false}));
  EXPECT_TRUE(read(R"({"tie_word_embeddings": true})").tied);
  EXPECT_EQ(llama_part(read(R"({"rms_norm_eps": 1e-05, "initializer_range": 0.0416})")).deviation,
            0.0416);
}

TEST(LlamaConfig, BothSpellingsOfTheRotation) {
  const RopeSpec linear{RopeSpec::Scaling::linear, 5e5, 4};
  for (const std::string_view text :
       {R"({"rope_theta": 5e5, "rope_scaling": {"type": "linear", "factor": 4}})",
        R"({"rope_theta": 5e5, "rope_scaling": {"rope_type": "linear", "factor": 4.0}})",
        R"({"rope_parameters": {"rope_type": "linear", "factor": 4, "rope_theta": 5e5}})",
        R"({"rope_theta": 5e5, "rope_parameters": {"rope_type": "linear", "factor": 4}})"}) {
    EXPECT_EQ(llama_part(read(text)).rope, linear) << text;
  }
  const RopeSpec stretched{RopeSpec::Scaling::llama3, 5e5, 32, 1, 4, 8192};
  constexpr std::string_view three = R"("rope_type": "llama3", "factor": 32.0,
    "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192)";
  EXPECT_EQ(
      llama_part(read(fmt::format(R"({{"rope_theta": 500000.0, "rope_scaling": {{{}}}}})", three)))
          .rope,
      stretched);
  EXPECT_EQ(
      llama_part(read(fmt::format(R"({{"rope_parameters": {{"rope_theta": 500000, {}}}}})", three)))
          .rope,
      stretched);
  EXPECT_EQ(llama_part(read(R"({"rope_theta": 1e6, "rope_scaling": null})")).rope,
            (RopeSpec{.theta = 1e6}));
  EXPECT_EQ(
      llama_part(read(R"({"rope_parameters": {"rope_type": "default", "rope_theta": 1e5}})")).rope,
      (RopeSpec{.theta = 1e5}));
}

TEST(LlamaConfig, ARotationThatIsNotBuiltIsRefusedByItsName) {
  for (const std::string_view type : {"dynamic", "yarn", "longrope", "mrope", "su"}) {
    for (const std::string_view key : {"type", "rope_type"}) {
      EXPECT_THAT(
          refusal(fmt::format(R"({{"rope_scaling": {{"{}": "{}", "factor": 2}}}})", key, type)),
          AllOf(HasSubstr(type), HasSubstr("'linear' or 'llama3'")));
    }
    EXPECT_THAT(refusal(fmt::format(R"({{"rope_parameters": {{"rope_type": "{}"}}}})", type)),
                HasSubstr(type));
  }
  // Nothing of a rotation is passed over.
  for (const auto& [text, key] : {
           std::pair(R"({"rope_scaling": {"type": "linear"}})", "factor"),
           {R"({"rope_scaling": {"type": "linear", "factor": 0.5}})", "factor"},
           {R"({"rope_scaling": {"type": "linear", "factor": "4"}})", "factor"},
           {R"({"rope_scaling": {"type": 7, "factor": 4}})", "type"},
           {R"({"rope_scaling": "linear"})", "rope_scaling"},
           {R"({"rope_scaling": {"type": "llama3", "factor": 8}})", "original_max_position"},
           {R"({"rope_scaling": {"type": "llama3", "factor": 8, "low_freq_factor": "1",
                "high_freq_factor": 4, "original_max_position_embeddings": 16}})",
            "low_freq_factor"},
           {R"({"rope_scaling": {"type": "llama3", "factor": 8, "low_freq_factor": 4,
                "high_freq_factor": 1, "original_max_position_embeddings": 16}})",
            "high_freq_factor"},
           {R"({"rope_parameters": {"full_attention": {"rope_type": "default"}}})",
            "full_attention"},
           {R"({"rope_parameters": {"partial_rotary_factor": 0.5}})", "partial_rotary_factor"},
           {R"({"rope_theta": "10000"})", "rope_theta"},
           {R"({"rope_theta": -1})", "rope_theta"},
       }) {
    EXPECT_THAT(refusal(text), HasSubstr(key)) << text;
  }
}

// transformers 4 reads one of them, transformers 5 the other.
TEST(LlamaConfig, KeysThatContradictEachOtherAreRefused) {
  constexpr std::string_view both =
      R"({"rope_theta": 1e4, "rope_parameters": {"rope_theta": 777}})";
  EXPECT_THAT(refusal(both), AllOf(HasSubstr("rope_theta is 10000"), HasSubstr("777")));
  EXPECT_EQ(llama_part(read(R"({"rope_theta": 777, "rope_parameters": {"rope_theta": 777}})")).rope,
            (RopeSpec{.theta = 777}));
  EXPECT_THAT(refusal(R"({"rope_scaling": {"type": "linear", "factor": 2},
                          "rope_parameters": {"rope_theta": 1e4}})"),
              HasSubstr("rope_scaling says another thing"));
  EXPECT_THAT(refusal(R"({"rope_scaling": {"rope_type": "llama3", "factor": 8,
                          "original_max_position_embeddings": 64}})"),
              HasSubstr("needs low_freq_factor, high_freq_factor too"));
  auto object = parse_json(both, "")->as_object();
  for (const auto& [key, value] : plain()) object.emplace(key, value);
  const auto older = read_llama_config(object, "config.json", 1);
  ASSERT_TRUE(older) << "a run that began so goes on";
  EXPECT_EQ(llama_part(*older).rope.theta, 777);
}

TEST(LlamaConfig, OtherFamiliesAreRefusedByTheirName) {
  for (const std::string_view type : {"gemma", "gemma2", "phi", "phi3", "mixtral", "gpt_neox",
                                      "smollm3", "qwen3_moe", "qwen3_next", "llama4", "gpt2"}) {
    EXPECT_THAT(refusal("{}", type), AllOf(HasSubstr(type), HasSubstr("qwen3"))) << type;
  }
  EXPECT_THAT(refusal(without(plain(), "model_type")), HasSubstr("model_type"));
}

TEST(LlamaConfig, WhatWouldBeComputedOtherwiseIsRefusedByItsKey) {
  for (const auto& [text, key] : {
           std::pair(R"({"num_local_experts": 8})", "num_local_experts"),
           {R"({"num_experts": 4})", "num_experts"},
           {R"({"n_routed_experts": 4})", "n_routed_experts"},
           {R"({"quantization_config": {"quant_method": "gptq"}})", "quantization_config"},
           {R"({"hidden_act": "gelu"})", "hidden_act"},
           {R"({"pretraining_tp": 2})", "pretraining_tp"},
           {R"({"attention_dropout": 0.1})", "attention_dropout"},
           {R"({"partial_rotary_factor": 0.5})", "partial_rotary_factor"},
           {R"({"no_rope_layers": [0, 1]})", "no_rope_layers"},
           {R"({"layer_types": ["full_attention", "linear_attention"]})", "linear_attention"},
           {R"({"layer_types": 3})", "layer_types"},
       }) {
    EXPECT_THAT(refusal(text), HasSubstr(key)) << text;
  }
  // The same keys where they mean nothing.
  read(R"({"num_experts": 1, "quantization_config": null, "pretraining_tp": 1, "use_cache": false,
          "attention_dropout": 0.0, "layer_types": ["full_attention", "full_attention"],
          "partial_rotary_factor": 1, "torch_dtype": "bfloat16", "my own key": [1, {"a": 2}]})");
}

TEST(LlamaConfig, WrongTypesAreRefusedByTheirKey) {
  for (const std::string_view key :
       {"hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
        "num_key_value_heads", "head_dim", "vocab_size", "max_position_embeddings"}) {
    for (const std::string_view value : {R"("64")", "-1", "6.5", "[64]", "true", "1e300", "{}"}) {
      const std::string text = fmt::format(R"({{"{}": {}}})", key, value);
      EXPECT_THAT(refusal(text), HasSubstr(key)) << text;
    }
  }
  for (const std::string_view key : {"tie_word_embeddings", "attention_bias", "mlp_bias"}) {
    EXPECT_THAT(refusal(fmt::format(R"({{"{}": 1}})", key)), HasSubstr(key));
  }
  for (const std::string_view key : {"rms_norm_eps", "initializer_range", "rope_theta"}) {
    EXPECT_THAT(refusal(fmt::format(R"({{"{}": "1e-5"}})", key)), HasSubstr(key));
    EXPECT_THAT(refusal(fmt::format(R"({{"{}": 1e999}})", key)), HasSubstr(key));
  }
  for (const std::string_view key :
       {"hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size"}) {
    EXPECT_THAT(refusal(fmt::format(R"({{"{}": 0}})", key)), HasSubstr(key));
  }
  EXPECT_THAT(refusal(R"({"rms_norm_eps": 0})"), HasSubstr("rms_norm_eps"));
  EXPECT_THAT(refusal(without(plain(), "vocab_size")), HasSubstr("vocab_size"));
}

// Nobody has a model of these sizes, and a list of its tensors would not fit into memory.
TEST(LlamaConfig, SizesBeyondReasonAreRefused) {
  for (const std::string_view key : {"hidden_size", "intermediate_size", "num_hidden_layers",
                                     "num_attention_heads", "head_dim", "vocab_size"}) {
    EXPECT_THAT(refusal(fmt::format(R"({{"{}": 2000000000}})", key)), HasSubstr(key));
  }
}

Status checked(const ModelSpec& model, std::int64_t block_size) {
  return check_llama(model, block_size);
}

TEST(LlamaConfig, AWindowHasNoEffectOnTextsThatFitIntoIt) {
  const auto window = [](std::string_view changes, std::string_view type) {
    return read(changes, type).window;
  };
  EXPECT_EQ(window("{}", "mistral"), 4096);
  EXPECT_EQ(window(R"({"sliding_window": null})", "mistral"), 0);
  EXPECT_EQ(window(R"({"sliding_window": 128})", "mistral"), 128);
  for (const std::string_view type : {"qwen2", "qwen3"}) {
    EXPECT_EQ(window("{}", type), 0);
    EXPECT_EQ(window(R"({"sliding_window": 128})", type), 0);
    EXPECT_EQ(window(R"({"use_sliding_window": false, "sliding_window": 128})", type), 0);
    EXPECT_EQ(window(R"({"use_sliding_window": true, "sliding_window": 128})", type), 128);
    EXPECT_EQ(window(R"({"use_sliding_window": true})", type), 4096) << "its class's default";
  }
  const ModelSpec model = read(R"({"sliding_window": 128})", "mistral");
  EXPECT_TRUE(checked(model, 128));
  const Status beyond = checked(model, 129);
  ASSERT_FALSE(beyond);
  EXPECT_THAT(beyond.error().message(), AllOf(HasSubstr("window of 128"), HasSubstr("129")));
}

TEST(LlamaConfig, TextsLongerThanTheModelKnowsAreRefused) {
  const ModelSpec model = read(R"({"max_position_embeddings": 256})");
  EXPECT_TRUE(checked(model, 256));
  const Status beyond = checked(model, 257);
  ASSERT_FALSE(beyond);
  EXPECT_THAT(beyond.error().message(), HasSubstr("256 positions"));
}

// What is written is read as the same model, through text as well.
TEST(LlamaConfig, WhatIsWrittenIsReadAgain) {
  for (const std::string_view type : {"llama", "mistral", "qwen2", "qwen3"}) {
    for (const std::string_view changes :
         {R"({})", R"({"tie_word_embeddings": true, "head_dim": 32})",
          R"({"attention_bias": true, "rms_norm_eps": 1e-5})",
          R"({"mlp_bias": true, "initializer_range": 0.041666666})",
          R"({"rope_scaling": {"type": "linear", "factor": 4}})",
          R"({"rope_parameters": {"rope_type": "llama3", "rope_theta": 5e5, "factor": 32,
              "low_freq_factor": 1, "high_freq_factor": 4,
              "original_max_position_embeddings": 8192}})",
          R"({"sliding_window": 77, "use_sliding_window": true})",
          R"({"num_key_value_heads": null, "max_position_embeddings": 512})"}) {
      const ModelSpec model = read(changes, type);
      const std::string text = json::serialize(llama_config(model));
      EXPECT_EQ(read(parse_json(text, "written")->as_object()), model) << type << changes;
    }
  }
}

TEST(LlamaConfig, AdaptersOfACheckpoint) {
  const auto lora_of = [](std::string_view text) {
    return read_lora(parse_json(text, "x")->as_object(), "state.json");
  };
  LoraSpec lora;
  lora.rank = 4;
  lora.alpha = 16;
  lora.dropout = 0.1;
  lora.stabilised = true;
  lora.targets = lora_targets("q_proj").value() | lora_targets("mlp.down_proj").value();
  EXPECT_EQ(*read_lora(lora_config(lora), "x"), lora);
  EXPECT_EQ(lora.scale(), 8);
  lora.stabilised = false;
  EXPECT_EQ(lora.scale(), 4);
  EXPECT_EQ(lora_of(R"({"target_modules": "all-linear"})")->targets, 127U);
  EXPECT_EQ(lora_of(R"({"target_modules": ["self_attn.v_proj", "v_proj"]})")->targets, 4U);
  for (const std::string_view text :
       {R"({"target_modules": ["lm_head"]})", R"({"target_modules": []})", R"({"r": 4})",
        R"({"target_modules": ["q_proj", 3]})", R"({"r": 0, "target_modules": ["q_proj"]})",
        R"({"r": "4", "target_modules": ["q_proj"]})"}) {
    EXPECT_FALSE(lora_of(text)) << text;
  }
}

// A share of 1 would leave nothing and scale it by infinity.
TEST(LlamaConfig, AdaptersThatCannotBeAreRefused) {
  TrainingSpec spec;
  spec.model = read("{}");
  spec.model.lora.rank = 4;
  spec.model.lora.targets = 1;
  EXPECT_TRUE(check_spec(spec));
  for (const auto& [apply, word] : {
           std::pair(
               +[](LoraSpec& lora) { lora.dropout = 1; }, "dropout"),
           {+[](LoraSpec& lora) { lora.dropout = -0.1; }, "dropout"},
           {+[](LoraSpec& lora) { lora.alpha = 0; }, "alpha"},
           {+[](LoraSpec& lora) { lora.rank = 1 << 20; }, "rank"},
           {+[](LoraSpec& lora) { lora.targets = 0; }, "target"},
       }) {
    TrainingSpec wrong = spec;
    apply(wrong.model.lora);
    const Status status = check_spec(wrong);
    ASSERT_FALSE(status) << word;
    EXPECT_THAT(status.error().message(), HasSubstr(word));
  }
}

}  // namespace
}  // namespace trainward::trainer
