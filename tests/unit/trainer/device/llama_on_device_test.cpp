// Llamas on the simulated N300: weighted predictions, texts packed in rows, adapters over frozen
// weights, whatever is where, as the CPU trains them.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "common/base/bf16.hpp"
#include "device/examples.hpp"
#include "device/on_simulator.hpp"
#include "trainer/device/fixed_parameters.hpp"
#include "trainer/model/llama/llama.hpp"
#include "trainer/model/llama/llama_spec.hpp"
#include "trainer/model/training/segments.hpp"

namespace trainward::trainer {
namespace {

using test::course_of;
using test::Examples;
using test::expect_same_course;
using test::make_on_device;
using test::same_bits;
using test::simulated;
using test::State;
using test::state_of;

constexpr std::uint32_t all_linears = (1U << linears) - 1;

TrainingSpec llama_spec() {
  TrainingSpec spec = test::on_one_thread(test::tiny_spec());
  spec.model = test::as_llama(spec.model);
  return spec;
}

void add_adapters(ModelSpec& model, graph::Element frozen, double dropout = 0) {
  model.lora = {.rank = 3, .alpha = 6, .dropout = dropout, .targets = all_linears};
  model.frozen = frozen;
}

void train_on_examples(Trainable& model, const TrainingSpec& spec, std::uint64_t first,
                       std::uint64_t last) {
  for (std::uint64_t step = first; step <= last; ++step) {
    const Examples examples(spec, spec.sequences_per_step(), step);
    const auto done = model.step(examples.batch());
    ASSERT_TRUE(done) << done.error().message();
  }
}

void expect_cpus_course(const TrainingSpec& spec, const DeviceConfig& config, double slack = 2e-5,
                        const BaseWeights* base = nullptr) {
  auto on_cpu = make_cpu_model(spec, base);
  ASSERT_TRUE(on_cpu) << on_cpu.error().message();
  const auto on_device = make_on_device(spec, config, base);
  ASSERT_TRUE(on_device);
  EXPECT_EQ(on_device->parameter_count(), (*on_cpu)->parameter_count());
  EXPECT_EQ(on_device->total_parameters(), (*on_cpu)->total_parameters());
  expect_same_course(course_of(**on_cpu, spec), course_of(*on_device, spec), slack);
}

// The weights of a model as somebody's files would have them.
class FilledBase final : public BaseWeights {
 public:
  FilledBase(ModelSpec model, std::int64_t positions, checkpoint::DType type) {
    model.lora = {};
    graph::test::Draw draw(5);
    const ParameterTable table = make_parameter_table(model, positions);
    for (const ParameterInfo& info : table.infos) {
      if (info.role == Role::table) continue;
      graph::Shape shape = info.shape;
      shape[0] = info.live_rows;
      std::vector<std::byte>& bytes = bytes_[info.name];
      const bool narrow = type == checkpoint::DType::bf16;
      const double middle = info.initial == Initial::ones ? 1 : 0;
      for (const double number : draw.numbers(shape, middle - 0.3, middle + 0.3)) {
        const auto value = static_cast<float>(number);
        const std::uint16_t half = bf16_from_float(value);
        const auto whole =
            narrow ? std::as_bytes(std::span(&half, 1)) : std::as_bytes(std::span(&value, 1));
        bytes.insert(bytes.end(), whole.begin(), whole.end());
      }
      tensors_[info.name] = {type, shape, bytes};
    }
  }
  [[nodiscard]] std::optional<Tensor> find(std::string_view name) const override {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::string, std::vector<std::byte>> bytes_;
  std::map<std::string, Tensor, std::less<>> tensors_;
};

TrainingSpec random_llama(graph::test::Draw& draw) {
  TrainingSpec spec = llama_spec();
  ModelSpec& model = spec.model;
  const auto coin = [&] { return draw.size(0, 1) == 1; };
  // 9 heads of queries for 3 of keys is SmolLM2-135M, 14 for 2 Qwen2.5-0.5B, 15 for 5 SmolLM2-360M.
  constexpr std::pair<int, int> heads[] = {{1, 1}, {2, 1},  {4, 4}, {6, 2},
                                           {9, 3}, {14, 2}, {15, 5}};
  const auto [queries, keys] = heads[static_cast<std::size_t>(draw.size(0, 6))];
  model.layers = draw.size(1, 2);
  model.heads = queries;
  llama_part(model).kv_heads = keys;
  model.own_head_width = 2 * draw.size(1, 5);
  model.rank = model.own_head_width;
  model.width = draw.size(5, 40);
  llama_part(model).inner = draw.size(5, 70);
  llama_part(model).qkv_biases = coin();
  llama_part(model).output_bias = coin();
  llama_part(model).mlp_biases = coin();
  llama_part(model).qk_norms = coin();
  llama_part(model).deviation = 0.2;
  model.vocabulary = draw.size(5, 70);
  model.tied = coin();
  spec.batch_size = 2 * draw.size(1, 2);
  spec.accumulation = draw.size(1, 3);
  spec.block_size = draw.size(3, 40);
  spec.weighted = coin();
  spec.segmented = coin();
  spec.dropout = coin() ? 0.2 : 0;
  if (coin()) {
    add_adapters(model, coin() ? graph::Element::bf16 : graph::Element::f32, coin() ? 0.2 : 0);
  }
  spec.recompute = coin();
  spec.weight_decay = 0.1;
  spec.gradient_clip = coin() ? 0.5 : 0;
  spec.seed = static_cast<std::uint64_t>(draw.size(1, 1000));
  return spec;
}

TEST(LlamaOnDevice, TrainsAsTheCpuDoes) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    graph::test::Draw draw(seed);
    const TrainingSpec spec = random_llama(draw);
    const auto placement = draw.size(0, 1) == 1 ? Placement::host : Placement::device;
    expect_cpus_course(spec, simulated(placement, draw.size(1, 2)));
    if (testing::Test::HasFailure()) return;
  }
}

// The head sees 64 of 256 positions at a time, and adds up.
TEST(LlamaOnDevice, TheHeadInPiecesGivesWhatTheCpusGives) {
  for (const bool adapters : {false, true}) {
    for (const Placement placement : {Placement::host, Placement::device}) {
      for (const std::int64_t devices : {1, 2}) {
        SCOPED_TRACE(testing::Message() << adapters << (placement == Placement::host) << devices);
        TrainingSpec spec = llama_spec();
        spec.model.tied = devices == 2;
        spec.model.layers = 1;
        spec.weighted = true;
        spec.head_logits = 1;
        spec.batch_size = 4;
        spec.block_size = 64;
        spec.accumulation = devices;
        if (adapters) add_adapters(spec.model, graph::Element::bf16);
        ASSERT_EQ(head_rows(spec), 64);
        expect_cpus_course(spec, simulated(placement, devices));
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(LlamaOnDevice, TrainsInBf16AsTheCpuDoes) {
  for (const bool adapters : {false, true}) {
    for (const Placement placement : {Placement::host, Placement::device}) {
      TrainingSpec spec = llama_spec();
      spec.precision = graph::Precision::bf16;
      spec.weighted = true;
      if (adapters) add_adapters(spec.model, graph::Element::bf16);
      expect_cpus_course(spec, simulated(placement), 5e-3);
    }
  }
}

TEST(LlamaOnDevice, TheFirstLossHasTheCpusBits) {
  TrainingSpec spec = llama_spec();
  spec.weighted = true;
  for (const bool adapters : {false, true}) {
    if (adapters) add_adapters(spec.model, graph::Element::bf16, 0.2);
    const auto on_cpu = test::make(spec);
    const auto on_device = make_on_device(spec, simulated(Placement::host));
    const Examples examples(spec, spec.sequences_per_step(), 1);
    const auto expected = on_cpu->step(examples.batch());
    const auto got = on_device->step(examples.batch());
    ASSERT_TRUE(expected && got);
    EXPECT_EQ(got->loss, expected->loss);
    EXPECT_NEAR(got->grad_norm, expected->grad_norm, 1e-6);
  }
}

TEST(LlamaOnDevice, BeginsWithTheBase) {
  using checkpoint::DType;
  for (const DType type : {DType::f32, DType::bf16}) {
    for (const Placement placement : {Placement::host, Placement::device}) {
      TrainingSpec spec = llama_spec();
      spec.model.tied = placement == Placement::host;
      const FilledBase base(spec.model, spec.block_size, type);
      auto on_cpu = make_cpu_model(spec, &base);
      auto on_device = make_on_device(spec, simulated(placement), &base);
      ASSERT_TRUE(on_device && on_cpu);
      EXPECT_TRUE(same_bits(state_of(**on_cpu), state_of(*on_device)));
      on_device.reset();  // the card has one client at a time
      add_adapters(spec.model, type == DType::bf16 ? graph::Element::bf16 : graph::Element::f32);
      expect_cpus_course(spec, simulated(placement), 2e-5, &base);
    }
  }
}

// Adapters and their moments are all of the state: what is frozen comes from the base again.
TEST(LlamaOnDevice, GoesOnFromItsStateAsIfNothingHadHappened) {
  for (const Placement placement : {Placement::host, Placement::device}) {
    TrainingSpec spec = llama_spec();
    spec.weighted = spec.segmented = true;
    spec.accumulation = 2;
    add_adapters(spec.model, graph::Element::bf16, 0.2);
    const FilledBase base(spec.model, spec.block_size, checkpoint::DType::bf16);
    auto model = make_on_device(spec, simulated(placement, 2), &base);
    train_on_examples(*model, spec, 1, 3);
    const State middle = state_of(*model);
    EXPECT_EQ(middle.size(), 3U * 2 * linears * 2) << "two of each linear in two layers";
    for (const auto& [name, values] : middle) {
      EXPECT_NE(name.find(".lora_"), std::string::npos) << name;
    }
    train_on_examples(*model, spec, 4, 6);
    const State straight = state_of(*model);
    // The same model again, and a new one.
    ASSERT_TRUE(model->restore(test::fill_from(middle), 3));
    train_on_examples(*model, spec, 4, 6);
    EXPECT_TRUE(same_bits(straight, state_of(*model)));
    model.reset();
    TrainingSpec resuming = spec;
    resuming.initialise = false;
    model = make_on_device(resuming, simulated(placement, 2), &base);
    ASSERT_TRUE(model->restore(test::fill_from(middle), 3));
    train_on_examples(*model, spec, 4, 6);
    EXPECT_TRUE(same_bits(straight, state_of(*model)));
  }
}

TEST(LlamaOnDevice, VectorsDoNotDecay) {
  TrainingSpec spec = llama_spec();
  spec.weight_decay = 0.5;
  spec.learning_rate = 0.01;
  for (const Placement placement : {Placement::host, Placement::device}) {
    const auto on_cpu = test::make(spec);
    const auto on_device = make_on_device(spec, simulated(placement));
    const Examples examples(spec, spec.sequences_per_step(), 1);
    ASSERT_TRUE(on_cpu->step(examples.batch()) && on_device->step(examples.batch()));
    const State expected = state_of(*on_cpu);
    const State got = state_of(*on_device);
    for (const char* name : {"model.norm.weight", "model.layers.1.input_layernorm.weight",
                             "model.layers.0.mlp.up_proj.weight", "model.embed_tokens.weight"}) {
      const std::vector<float>& values = expected.at(name);
      for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_NEAR(got.at(name)[i], values[i], 1e-3) << name << " " << i;
      }
    }
  }
}

TEST(LlamaOnDevice, WhatIsFixedIsUploadedOnceAsItIsKept) {
  TrainingSpec spec = llama_spec();
  add_adapters(spec.model, graph::Element::bf16);
  const auto state = ModelState::allocate(spec, false, nullptr);
  ASSERT_TRUE(state) << state.error().message();
  auto device = Device::open(simulated(Placement::device).device, 2);
  ASSERT_TRUE(device) << device.error().message();
  const Places block = (*state)->table.block(1);
  std::map<std::size_t, const void*> buffers;
  {
    FixedParameters fixed(**state, 1);
    for (const bool again : {false, true}) {
      ASSERT_TRUE(fixed.upload(**device, block));
      ASSERT_TRUE((*device)->finish_uploads());
      for (const std::size_t place : block) {
        const ParameterInfo& info = (*state)->table.infos[place];
        ASSERT_EQ(fixed[place].size(), info.trained() ? 0U : 2U) << info.name;
        if (info.trained()) continue;
        EXPECT_EQ(fixed[place][0].type().value().element, info.element) << info.name;
        if (again) {
          EXPECT_EQ(buffers.at(place), fixed[place][0].get()) << info.name;
        }
        buffers[place] = fixed[place][0].get();
      }
    }
  }
}

// A batch for each device, or one for all of them: the loss is that of what there is.
TEST(LlamaOnDevice, EvaluatesAWeightedBatchWhetherOrNotItIsSplit) {
  TrainingSpec spec = llama_spec();
  spec.weighted = true;
  spec.batch_size = 4;
  for (const Placement placement : {Placement::host, Placement::device}) {
    const auto model = make_on_device(spec, simulated(placement, 2));
    const auto on_cpu = test::make(spec);
    for (const std::int64_t sequences : {4, 2}) {
      TrainingSpec of_batch = spec;
      of_batch.batch_size = sequences;
      const auto reference = test::make(of_batch);
      const Examples examples(spec, sequences, 7);
      const auto expected = reference->evaluate(examples.batch());
      const auto got = model->evaluate(examples.batch());
      ASSERT_TRUE(expected && got);
      EXPECT_NEAR(*got, *expected, 1e-5) << sequences;
    }
  }
}

TEST(LlamaOnDevice, BlocksAreCompiledOnceHoweverManyThereAre) {
  const std::filesystem::path cache =
      std::filesystem::path(testing::TempDir()) / "llama_on_device_programs";
  std::filesystem::remove_all(cache);
  DeviceConfig config = simulated(Placement::device);
  config.device.cache = cache;
  TrainingSpec spec = llama_spec();
  add_adapters(spec.model, graph::Element::bf16, 0.1);
  for (const std::int64_t layers : {1, 3}) {
    spec.model.layers = layers;
    std::map<std::string, bool> hits;
    config.device.compiled = [&](const pjrt::Compiled& program) {
      EXPECT_TRUE(hits.emplace(program.name, program.hit).second) << program.name;
    };
    const auto model = make_on_device(spec, config);
    ASSERT_TRUE(model);
    EXPECT_TRUE(hits.contains("block_forward") && hits.contains("block_backward"));
    EXPECT_FALSE(hits.contains("embed_backward") || hits.contains("update_core"));
    for (const auto& [name, hit] : hits) EXPECT_EQ(hit, layers == 3) << name;
  }
  std::filesystem::remove_all(cache);
}

// Qwen's, the largest there is.
TEST(LlamaOnDevice, GathersFromALargeVocabulary) {
  TrainingSpec spec = llama_spec();
  spec.model.width = 8;
  spec.model.layers = 1;
  spec.model.vocabulary = 151936;
  spec.model.tied = true;
  spec.batch_size = 1;
  spec.block_size = 8;
  spec.weighted = true;
  add_adapters(spec.model, graph::Element::bf16);
  expect_cpus_course(spec, simulated(Placement::device));
}

}  // namespace
}  // namespace trainward::trainer
