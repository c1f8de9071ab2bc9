// Devices of a row that share the weights train as one device does that has all of them: every
// architecture, wherever embedding and head are, with rows that share the sequences and without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/examples.hpp"
#include "device/on_simulator.hpp"
#include "trainer/model/columns.hpp"
#include "trainer/model/llama/llama.hpp"

namespace trainward::trainer {
namespace {

using test::course_of;
using test::make_on_device;
using test::simulated;
using test::state_of;
using testing::HasSubstr;

// A card with chips for all of these meshes.
class TensorParallel : public testing::Test {
 protected:
  TensorParallel() { ::setenv("TRAINWARD_SIMULATE", R"({"chips": 32})", 1); }
  ~TensorParallel() override { ::unsetenv("TRAINWARD_SIMULATE"); }
  TensorParallel(const TensorParallel&) = delete;
  TensorParallel& operator=(const TensorParallel&) = delete;
  TensorParallel(TensorParallel&&) = delete;
  TensorParallel& operator=(TensorParallel&&) = delete;
};

std::unique_ptr<Trainable> on_mesh(TrainingSpec spec, Placement placement, std::int64_t rows,
                                   std::int64_t columns) {
  spec.columns = columns;
  return make_on_device(spec, simulated(placement, rows * columns));
}

// Sizes that 2 and 4 columns divide, of each architecture in turn.
TrainingSpec random_spec(graph::test::Draw& draw, std::uint64_t number) {
  const auto coin = [&] { return draw.size(0, 1) == 1; };
  TrainingSpec spec = test::on_one_thread(test::tiny_spec());
  spec.model = {.width = 32,
                .layers = draw.size(1, 2),
                .heads = 4,
                .rank = draw.size(3, 12),
                .vocabulary = draw.size(5, 140),
                .tied = coin()};
  spec.batch_size = 4 * draw.size(1, 2);
  spec.accumulation = draw.size(1, 2);
  spec.block_size = draw.size(3, 24);
  if (number % 3 == 1) spec.model = test::as_gpt2(spec.model, spec.block_size + draw.size(0, 9));
  if (number % 3 == 2) {
    ModelSpec& model = spec.model;
    model = test::as_llama(model);
    llama_part(model).kv_heads = 4;
    llama_part(model).inner = 4 * draw.size(3, 9);
    llama_part(model).qkv_biases = coin();
    llama_part(model).output_bias = coin();
    llama_part(model).mlp_biases = coin();
    llama_part(model).qk_norms = coin();
    spec.weighted = coin();
    spec.segmented = coin();
    if (coin()) model.lora = {.rank = 3, .alpha = 6, .targets = (1U << linears) - 1};
    if (coin()) model.frozen = graph::Element::bf16;
  }
  spec.dropout = coin() ? 0.2 : 0;
  spec.label_smoothing = coin() ? 0.1 : 0;
  spec.recompute = coin();
  spec.weight_decay = 0.1;
  spec.gradient_clip = coin() ? 0.5 : 0;
  spec.seed = static_cast<std::uint64_t>(draw.size(1, 1000));
  return spec;
}

TEST_F(TensorParallel, TrainsAsOneDeviceDoes) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    graph::test::Draw draw(seed + 1);
    const TrainingSpec spec = random_spec(draw, seed);
    const auto placement = draw.size(0, 1) == 1 ? Placement::host : Placement::device;
    const std::int64_t rows = std::int64_t{1} << draw.size(0, 2);
    const std::int64_t columns = std::int64_t{1} << draw.size(1, 2);
    const auto one = course_of(*on_mesh(spec, placement, 1, 1), spec);
    const auto mesh = on_mesh(spec, placement, rows, columns);
    ASSERT_TRUE(mesh);
    test::expect_same_course(one, course_of(*mesh, spec), 1e-5);
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << rows << " x " << columns << (placement == Placement::host ? " host" : "");
      return;
    }
  }
}

TEST_F(TensorParallel, TrainsInBf16AsOneDeviceDoes) {
  graph::test::Draw draw(3);
  for (std::uint64_t number = 0; number < 3; ++number) {
    TrainingSpec spec = random_spec(draw, number);
    spec.precision = graph::Precision::bf16;
    const auto one = course_of(*on_mesh(spec, Placement::device, 1, 1), spec);
    test::expect_same_course(one, course_of(*on_mesh(spec, Placement::device, 2, 2), spec), 5e-3);
  }
}

// [1, 2] is written as [2, 4] reads it, and goes on there; what is divided on one is not on the
// other.
TEST_F(TensorParallel, AnotherMeshGoesOnWithTheState) {
  for (std::uint64_t number = 0; number < 3; ++number) {
    SCOPED_TRACE(number);
    graph::test::Draw draw(number + 7);
    TrainingSpec spec = random_spec(draw, number);
    spec.weighted = spec.segmented = false;
    const auto straight = [&] {
      const auto model = on_mesh(spec, Placement::device, 1, 1);
      test::train(*model, spec, 1, 4);
      return state_of(*model);
    }();
    auto model = on_mesh(spec, Placement::device, 1, 2);
    test::train(*model, spec, 1, 2);
    const test::State middle = state_of(*model);
    model.reset();
    spec.initialise = false;
    model = on_mesh(spec, Placement::host, 2, 4);
    ASSERT_TRUE(model->restore(test::fill_from(middle), 2));
    EXPECT_TRUE(test::same_bits(middle, state_of(*model))) << "up and down changes no bit";
    test::train(*model, spec, 3, 4);
    const test::State end = state_of(*model);
    for (const auto& [name, values] : straight) {
      if (name.find(".mean") != std::string::npos || name.find(".var") != std::string::npos)
        continue;
      for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_NEAR(end.at(name)[i], values[i], 2e-3) << name << " " << i;
      }
    }
  }
}

TEST_F(TensorParallel, DevicesOfAColumnAreCopiesOfEachOther) {
  graph::test::Draw draw(5);
  const TrainingSpec spec = random_spec(draw, 0);
  const auto model = on_mesh(spec, Placement::device, 2, 2);
  test::train(*model, spec, 1, 2);
  const auto sums = model->checksums();
  ASSERT_TRUE(sums);
  ASSERT_EQ(sums->size(), 4U);
  EXPECT_EQ(sums->at(0), sums->at(2));
  EXPECT_EQ(sums->at(1), sums->at(3));
  EXPECT_NE(sums->at(0), sums->at(1));
}

TEST_F(TensorParallel, ADeviceNeedsLessMemory) {
  graph::test::Draw draw(6);
  TrainingSpec spec = random_spec(draw, 0);
  spec.model.width = 256;
  spec.model.heads = 8;
  const auto most = [&](std::int64_t columns) {
    const auto model = on_mesh(spec, Placement::device, 1, columns);
    test::train(*model, spec, 1, 1);
    return model->device_memory().value().most;
  };
  const std::int64_t whole = most(1);
  EXPECT_LT(most(4), whole / 2);
}

TEST_F(TensorParallel, WhatDoesNotDivideIsNamedWithItsNumbers) {
  TrainingSpec spec = test::tiny_spec();
  const auto refusal = [&] {
    spec.columns = 4;
    const auto ok = check_spec(spec);
    return ok ? std::string() : ok.error().message();
  };
  EXPECT_THAT(refusal(), HasSubstr("2 heads do not divide evenly over 4 columns (2 / 4 = 0.5; "));
  spec.model.heads = 4;
  EXPECT_EQ(refusal(), "");
  spec.model = test::as_llama(spec.model);
  EXPECT_THAT(refusal(), HasSubstr("2 heads of keys do not"));
  llama_part(spec.model).kv_heads = 4;
  llama_part(spec.model).inner = 50;
  EXPECT_THAT(refusal(), HasSubstr("50 places of the feed-forward width"));
  llama_part(spec.model).inner = 52;
  EXPECT_EQ(refusal(), "");
  spec.model.lora = {.rank = 2, .dropout = 0.1, .targets = 1U << static_cast<unsigned>(Linear::o)};
  EXPECT_THAT(refusal(), HasSubstr("adapters of o_proj and down_proj"));
}

}  // namespace
}  // namespace trainward::trainer
