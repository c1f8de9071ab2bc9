// Small models for the tests of generation: their sizes, values from a seed, and what they predict
// by the graph that training uses, in double precision.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/bf16.hpp"
#include "model/tiny.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/model/architecture.hpp"
#include "trainer/model/llama/llama_spec.hpp"

namespace trainward::trainer::test {

struct Kind {
  const char* name;
  ModelSpec model;
};

inline ModelSpec made_llama(std::int64_t kv_heads) {
  ModelSpec model{.width = 24, .layers = 2, .heads = 4, .rank = 6, .vocabulary = 37};
  model.architecture = find_architecture("llama").value();
  model.positions = 80;
  llama_part(model).inner = 40;
  llama_part(model).kv_heads = kv_heads;
  model.own_head_width = 6;
  llama_part(model).deviation = 0.3;
  return model;
}

// Queries and keys of other widths than the model, as Qwen3's smallest has them.
inline ModelSpec made_qwen3() {
  ModelSpec model = made_llama(2);
  model.own_head_width = model.rank = 10;
  llama_part(model).qk_norms = true;
  llama_part(model).norm_epsilon = 1e-6;
  return model;
}

inline ModelSpec with_adapters(ModelSpec model, graph::Element frozen) {
  model.lora = {3, 6, 0.1, true, 0b1111111};
  model.frozen = frozen;
  return model;
}

inline std::vector<Kind> made_llamas() {
  ModelSpec biases = made_llama(2);
  llama_part(biases).qkv_biases = true;
  ModelSpec all_biases = biases;
  llama_part(all_biases).output_bias = llama_part(all_biases).mlp_biases = true;
  ModelSpec stretched = made_llama(2);
  stretched.own_head_width = stretched.rank = 12;
  llama_part(stretched).rope = {RopeSpec::Scaling::llama3, 5000, 8, 1, 4, 16};
  ModelSpec tied = made_llama(1);
  tied.tied = true;
  return {{"Grouped", made_llama(2)},
          {"OneKey", made_llama(1)},
          {"AllKeys", made_llama(4)},
          {"Biases", biases},
          {"AllBiases", all_biases},
          {"Norms", made_qwen3()},
          {"Stretched", stretched},
          {"TiedLlama", tied},
          {"Adapters", with_adapters(made_llama(2), graph::Element::f32)},
          {"AdaptersOverBf16", with_adapters(biases, graph::Element::bf16)}};
}

// Every trained value from the seed, none of a kind that hides a mistake (biases of zero).
inline void fill_with_numbers(Trainable& model, std::uint64_t seed) {
  const auto fill = [&](const std::vector<checkpoint::TensorTarget>& values,
                        const std::vector<checkpoint::TensorTarget>& moments) -> Status {
    graph::test::Draw draw(seed);
    for (const checkpoint::TensorTarget& target : values) {
      const bool norm = target.info.name.find("norm") != std::string::npos;
      for (std::size_t i = 0; i < target.bytes.size(); i += sizeof(float)) {
        const auto value = static_cast<float>(draw.number(-0.4, 0.4) + (norm ? 1 : 0));
        std::memcpy(target.bytes.data() + i, &value, sizeof value);
      }
    }
    for (const checkpoint::TensorTarget& target : moments) {
      std::memset(target.bytes.data(), 0, target.bytes.size());
    }
    return {};
  };
  EXPECT_TRUE(model.restore(fill, 0));
}

// Logits after each of the tokens, one row of the padded vocabulary a token.
inline graph::test::Numbers predicted(const TrainingSpec& spec, const Trainable& model,
                                      const std::vector<std::int32_t>& tokens) {
  using graph::Element;
  using graph::Value;
  using graph::test::Numbers;
  graph::Builder b;
  const auto n = static_cast<std::int64_t>(tokens.size());
  const ParameterTable table = make_parameter_table(spec.model, n);
  const std::vector<const void*> places = model.weights();
  std::vector<Numbers> inputs{Numbers(tokens.begin(), tokens.end())};
  const Value ids = b.parameter("ids", {Element::i32, {1, n}});
  std::vector<Value> all;
  for (std::size_t i = 0; i < table.infos.size(); ++i) {
    const ParameterInfo& info = table.infos[i];
    all.push_back(b.parameter(info.name, {Element::f32, info.shape}));
    std::vector<float> values(info.size());
    if (info.role == Role::table) {
      architecture_of(spec.model).fill_table(spec.model, info, values);
    } else if (info.element == Element::bf16) {
      const auto* bits = static_cast<const std::uint16_t*>(places[i]);
      for (std::size_t k = 0; k < values.size(); ++k) values[k] = float_from_bf16(bits[k]);
    } else {
      std::memcpy(values.data(), places[i], values.size() * sizeof(float));
    }
    inputs.emplace_back(values.begin(), values.end());
  }
  const auto weights = [&](const Places& which) {
    Weights::Named named;
    for (const std::size_t i : which) named.emplace_back(table.infos[i].local_name(), all[i]);
    return Weights(b, std::move(named));
  };
  const Architecture& architecture = architecture_of(spec.model);
  Value x = architecture.embed(b, spec.model, weights(table.embedding), ids, {});
  for (std::int64_t layer = 0; layer < spec.model.layers; ++layer) {
    x = block(b, spec, weights(table.block(static_cast<std::size_t>(layer))), x, {});
  }
  const Value logits = architecture.logits(b, spec.model, weights(table.head), x);
  return graph::test::interpret(*b.finish(std::vector{logits}), inputs)[0];
}

}  // namespace trainward::trainer::test
