// Small models and made-up tokens for the tests of training.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "graph/reference.hpp"
#include "trainer/model/architecture.hpp"
#include "trainer/model/cpu/cpu_model.hpp"
#include "trainer/model/llama/llama_spec.hpp"

namespace trainward::trainer::test {

inline TrainingSpec tiny_spec() {
  TrainingSpec spec;
  spec.model = {.width = 16, .layers = 2, .heads = 2, .rank = 12, .vocabulary = 33};
  spec.batch_size = 2;
  spec.block_size = 12;
  spec.threads = 2;
  return spec;
}

// A GPT-2 of the sizes of an AGILLM-3.
inline ModelSpec as_gpt2(ModelSpec model, std::int64_t positions) {
  model.architecture = find_architecture("gpt2").value();
  model.rank = model.head_width();
  model.positions = positions;
  model.tied = true;
  return model;
}

// A Llama of the sizes of an AGILLM-3: two heads of queries share one of keys and values.
inline ModelSpec as_llama(ModelSpec model) {
  model.architecture = find_architecture("llama").value();
  model.own_head_width = model.width / model.heads;
  llama_part(model).kv_heads = model.heads / 2;
  llama_part(model).inner = 3 * model.width;
  llama_part(model).deviation = 0.3;
  model.rank = model.own_head_width;
  return model;
}

// The smallest model of each architecture, for tests of what all have in common.
inline TrainingSpec tiny_spec(const Architecture& architecture) {
  TrainingSpec spec = tiny_spec();
  if (architecture.name() == "gpt2") spec.model = as_gpt2(spec.model, spec.block_size + 3);
  if (architecture.name() == "llama") spec.model = as_llama(spec.model);
  return spec;
}

inline std::string test_name(const ::testing::TestParamInfo<const Architecture*>& test) {
  return std::string(test.param->name());
}

inline std::unique_ptr<Trainable> make(const TrainingSpec& spec) {
  Result<std::unique_ptr<Trainable>> model = make_cpu_model(spec);
  EXPECT_TRUE(model) << model.error().message();
  return *std::move(model);
}

// Tokens of step `step`: the same for every model, below `vocabulary`.
inline std::vector<std::int32_t> tokens(const TrainingSpec& spec, std::uint64_t step) {
  graph::test::Draw draw(step * 7919 + 1);
  std::vector<std::int32_t> ids(
      static_cast<std::size_t>(spec.sequences_per_step() * spec.block_size));
  for (std::int32_t& id : ids) {
    id = static_cast<std::int32_t>(draw.size(0, spec.model.vocabulary - 1));
  }
  return ids;
}

inline StepResult train(Trainable& model, const TrainingSpec& spec, std::uint64_t first,
                        std::uint64_t last) {
  StepResult result;
  for (std::uint64_t step = first; step <= last; ++step) {
    const Result<StepResult> done = model.step(tokens(spec, step));
    EXPECT_TRUE(done) << done.error().message();
    if (done) result = *done;
  }
  return result;
}

// Copies from views, as a checkpoint would fill a model. The views must outlive it.
inline checkpoint::FillTensors fill_from(std::vector<checkpoint::TensorView> model,
                                         std::vector<checkpoint::TensorView> optimizer) {
  using Targets = std::vector<checkpoint::TensorTarget>;
  const auto fill = [](std::string_view what, const std::vector<checkpoint::TensorView>& views,
                       const Targets& targets) -> Status {
    std::vector<checkpoint::TensorInfo> infos;
    std::map<std::string, std::span<const std::byte>> bytes;
    for (const checkpoint::TensorView& view : views) {
      infos.push_back(view.info);
      bytes[view.info.name] = view.bytes;
    }
    if (auto ok = checkpoint::match(what, infos, targets); !ok) return ok;
    for (const checkpoint::TensorTarget& target : targets) {
      std::memmove(target.bytes.data(), bytes.at(target.info.name).data(), target.bytes.size());
    }
    return {};
  };
  return [fill, model = std::move(model), optimizer = std::move(optimizer)](
             const Targets& model_targets, const Targets& optimizer_targets) {
    auto ok = fill("model", model, model_targets);
    return ok ? fill("optimizer", optimizer, optimizer_targets) : ok;
  };
}

using State = std::map<std::string, std::vector<float>>;

inline State copy_of(const std::vector<checkpoint::TensorView>& views) {
  State state;
  for (const checkpoint::TensorView& view : views) {
    std::vector<float>& values = state[view.info.name];
    values.resize(view.bytes.size() / sizeof(float));
    std::memcpy(values.data(), view.bytes.data(), view.bytes.size());
  }
  return state;
}

// Bit for bit: a NaN equals itself, -0 does not equal 0.
inline bool same_bits(const State& a, const State& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, values] : a) {
    const auto other = b.find(name);
    if (other == b.end() || other->second.size() != values.size() ||
        std::memcmp(other->second.data(), values.data(), values.size() * sizeof(float)) != 0) {
      ADD_FAILURE() << name << " differs";
      return false;
    }
  }
  return true;
}

}  // namespace trainward::trainer::test
