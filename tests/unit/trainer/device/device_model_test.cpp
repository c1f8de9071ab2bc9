// A model on the simulated N300 trains as one on the CPU does: the same curve to rounding, whatever
// is where, on one chip or two.
#include "trainer/device/device_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "device/on_simulator.hpp"

namespace trainward::trainer {
namespace {

using test::make_on_device;
using test::simulated;
using test::State;
using test::state_of;
using testing::HasSubstr;

TrainingSpec tiny_spec() { return test::on_one_thread(test::tiny_spec()); }

test::Course train_course(Trainable& model, const TrainingSpec& spec) {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> held_out = test::tokens(spec, 99);
  held_out.resize(static_cast<std::size_t>(spec.batch_size * spec.block_size));
  const auto batch_of = [&](std::uint64_t step) {
    ids = test::tokens(spec, step);
    return TokenBatch(ids);
  };
  return test::train_course(model, 5, batch_of, held_out);
}

TrainingSpec random_spec(graph::test::Draw& draw) {
  TrainingSpec spec = tiny_spec();
  spec.model.layers = draw.size(1, 3);
  spec.model.heads = draw.size(1, 4);
  spec.model.width = spec.model.heads * 8 * draw.size(1, 2);
  spec.model.rank = draw.size(3, 20);
  spec.model.vocabulary = draw.size(5, 70);
  spec.model.tied = draw.size(0, 1) == 1;
  spec.batch_size = 2 * draw.size(1, 2);
  spec.accumulation = draw.size(1, 3);
  spec.block_size = draw.size(3, 40);
  if (draw.size(0, 2) == 0)
    spec.model = test::as_gpt2(spec.model, spec.block_size + draw.size(0, 9));
  spec.dropout = draw.size(0, 1) == 1 ? 0.2 : 0;
  spec.label_smoothing = draw.size(0, 1) == 1 ? 0.1 : 0;
  spec.recompute = draw.size(0, 1) == 1;
  spec.gradient_clip = draw.size(0, 1) == 1 ? 0.5 : 0;
  spec.seed = static_cast<std::uint64_t>(draw.size(1, 1000));
  return spec;
}

TEST(DeviceModel, TrainsAsTheCpuDoes) {
  for (std::uint64_t seed = 1; seed <= 18; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    graph::test::Draw draw(seed);
    const TrainingSpec spec = random_spec(draw);
    const auto placement = draw.size(0, 1) == 1 ? Placement::host : Placement::device;
    const std::int64_t devices = draw.size(1, 2);
    const auto on_cpu = test::make(spec);
    const auto on_device = make_on_device(spec, simulated(placement, devices));
    ASSERT_TRUE(on_device);
    EXPECT_EQ(on_device->parameter_count(), on_cpu->parameter_count());
    test::expect_same_course(train_course(*on_cpu, spec), train_course(*on_device, spec), 2e-5);
    if (testing::Test::HasFailure()) return;
  }
}

// Its blocks are the CPU's, product by product and sum by sum, whether or not they fit tiles.
TEST(DeviceModel, TheFirstLossHasTheCpusBits) {
  TrainingSpec spec = tiny_spec();
  ModelSpec of_tiles = spec.model;
  of_tiles = {.width = 64, .layers = 2, .heads = 2, .rank = 32, .vocabulary = 64};
  for (const ModelSpec& model : {spec.model, of_tiles}) {
    spec.model = model;
    const auto on_cpu = test::make(spec);
    const auto on_device = make_on_device(spec, simulated(Placement::host));
    const auto expected = on_cpu->step(test::tokens(spec, 1));
    const auto got = on_device->step(test::tokens(spec, 1));
    ASSERT_TRUE(expected && got);
    EXPECT_EQ(got->loss, expected->loss) << "width " << model.width;
    EXPECT_NEAR(got->grad_norm, expected->grad_norm, 1e-6);
  }
}

// [1, 2], [2, 4] and [4, 8] of the same step.
TEST(DeviceModel, EveryMeshTrainsAsOneDeviceDoes) {
  ::setenv("TRAINWARD_SIMULATE", R"({"chips": 32})", 1);
  TrainingSpec spec = tiny_spec();
  spec.batch_size = 32;
  spec.dropout = 0.1;
  for (const Placement placement : {Placement::host, Placement::device}) {
    const auto course = [&](std::int64_t devices) {
      return train_course(*make_on_device(spec, simulated(placement, devices)), spec);
    };
    const auto one = course(1);
    for (const std::int64_t devices : {2, 8, 32}) {
      SCOPED_TRACE(testing::Message() << devices << " devices");
      test::expect_same_course(one, course(devices), 2e-5);
    }
  }
  ::unsetenv("TRAINWARD_SIMULATE");
}

TEST(DeviceModel, TellsWhatEachDeviceDid) {
  TrainingSpec spec = tiny_spec();
  spec.batch_size = 4;
  ::setenv("TRAINWARD_SIMULATE", R"({"chips": 4})", 1);
  for (const Placement placement : {Placement::host, Placement::device}) {
    const auto model = make_on_device(spec, simulated(placement, 4));
    double loss = 0;
    for (std::uint64_t step = 1; step <= 3; ++step) {
      loss += model->step(test::tokens(spec, step)).value().loss;
    }
    const auto uses = model->take_use();
    ASSERT_TRUE(uses);
    ASSERT_EQ(uses->size(), 4U);
    double own = 0;
    for (const PartUse& use : *uses) {
      EXPECT_GT(use.compute.value().count(), 0);
      EXPECT_GT(use.collective.value().count(), 0);
      EXPECT_GT(use.memory.value().most, 0);
      EXPECT_EQ(use.loss.has_value(), placement == Placement::device);
      own += use.loss.value_or(0);
    }
    EXPECT_NEAR(own / 4, placement == Placement::device ? loss : 0, 1e-5);
    EXPECT_EQ(model->take_use().value().front().compute.value().count(), 0) << "it begins again";
  }
  ::unsetenv("TRAINWARD_SIMULATE");
  EXPECT_TRUE(make_on_device(spec, simulated(Placement::host, 1))->take_use().value().empty());
}

TEST(DeviceModel, CopiesStayAlikeUntilABitFlips) {
  TrainingSpec spec = tiny_spec();
  spec.batch_size = 4;
  ::setenv("TRAINWARD_ATTEMPT", "1", 1);
  ::setenv("TRAINWARD_SIMULATE",
           R"({"chips": 4, "flip": {"attempt": 1, "after_steps": 2, "chip": "2", "bit": 3}})", 1);
  for (const Placement placement : {Placement::host, Placement::device}) {
    const auto model = make_on_device(spec, simulated(placement, 4));
    test::train(*model, spec, 1, 2);
    const auto before = model->checksums();
    ASSERT_TRUE(before) << before.error().message();
    EXPECT_THAT(*before, testing::SizeIs(4));
    EXPECT_THAT(*before, testing::Each(before->front()));
    test::train(*model, spec, 3, 3);
    const auto after = model->checksums();
    ASSERT_TRUE(after);
    EXPECT_NE(after->front(), before->front());
    EXPECT_EQ(after->at(1), after->front());
    EXPECT_NE(after->at(2), after->front());
    EXPECT_EQ(after->at(3), after->front());
  }
  ::unsetenv("TRAINWARD_SIMULATE");
  ::unsetenv("TRAINWARD_ATTEMPT");
}

TEST(DeviceModel, TheSameRunGivesTheSameBits) {
  TrainingSpec spec = tiny_spec();
  spec.accumulation = 2;
  spec.dropout = 0.1;
  for (const Placement placement : {Placement::host, Placement::device}) {
    for (const std::int64_t devices : {1, 2}) {
      const auto end = [&] {
        const auto model = make_on_device(spec, simulated(placement, devices));
        test::train(*model, spec, 1, 4);
        return state_of(*model);
      };
      EXPECT_TRUE(test::same_bits(end(), end()));
    }
  }
}

TEST(DeviceModel, GoesOnFromItsStateAsIfNothingHadHappened) {
  TrainingSpec spec = tiny_spec();
  spec.dropout = 0.1;
  for (const Placement placement : {Placement::host, Placement::device}) {
    if (placement == Placement::device) spec.model = test::as_gpt2(spec.model, 16);
    // The card has one client at a time.
    auto model = make_on_device(spec, simulated(placement));
    test::train(*model, spec, 1, 3);
    const State middle = state_of(*model);
    test::train(*model, spec, 4, 6);
    const State straight = state_of(*model);
    model.reset();
    TrainingSpec resuming = spec;
    resuming.initialise = false;
    model = make_on_device(resuming, simulated(placement));
    ASSERT_TRUE(model->restore(test::fill_from(middle), 3));
    test::train(*model, spec, 4, 6);
    EXPECT_TRUE(test::same_bits(straight, state_of(*model)));
  }
}

TEST(DeviceModel, StateOfTheCpuGoesOnOnTheDeviceAndBack) {
  const TrainingSpec spec = tiny_spec();
  const auto on_cpu = test::make(spec);
  test::train(*on_cpu, spec, 1, 2);
  const auto on_device = make_on_device(spec, simulated(Placement::device));
  ASSERT_TRUE(
      on_device->restore(test::fill_from(on_cpu->model_state(), on_cpu->optimizer_state()), 2));
  const auto expected = on_cpu->step(test::tokens(spec, 3));
  const auto got = on_device->step(test::tokens(spec, 3));
  ASSERT_TRUE(expected && got);
  EXPECT_NEAR(got->loss, expected->loss, 1e-6);
}

TEST(DeviceModel, PaddingOfTheVocabularyStaysZero) {
  TrainingSpec spec = tiny_spec();
  spec.weight_decay = 0.1;
  const auto model = make_on_device(spec, simulated(Placement::device));
  test::train(*model, spec, 1, 3);
  const State state = state_of(*model);
  const std::vector<float>& rows = state.at("core.emb.weight");
  for (std::size_t i = 33 * 16; i < rows.size(); ++i) ASSERT_EQ(rows[i], 0) << i;
}

TEST(DeviceModel, TellsTheMemoryOfItsFullestChip) {
  TrainingSpec spec = tiny_spec();
  for (const std::int64_t chips : {1, 2}) {
    const auto model = make_on_device(spec, simulated(Placement::device, chips));
    ASSERT_TRUE(model);
    ASSERT_TRUE(model->step(test::tokens(spec, 1)));
    const auto first = model->device_memory();
    ASSERT_TRUE(first);
    EXPECT_GT(first->most, model->parameter_count() * 12) << "weights and two moments in f32";
    EXPECT_GT(first->limit.value(), first->most);
    ASSERT_TRUE(model->step(test::tokens(spec, 2)));
    EXPECT_GE(model->device_memory()->most, first->most);
    EXPECT_FALSE(model->peak_flops()) << "it is no real one";
  }
}

TEST(DeviceModel, WithoutEvaluationNothingIsCompiledForIt) {
  const TrainingSpec spec = tiny_spec();
  std::vector<std::string> compiled;
  DeviceConfig config = simulated(Placement::device);
  config.evaluates = false;
  config.device.compiled = [&](const pjrt::Compiled& program) { compiled.push_back(program.name); };
  const auto model = make_on_device(spec, config);
  EXPECT_THAT(compiled, testing::Contains("block_forward"));
  EXPECT_THAT(compiled, testing::Each(testing::Not(HasSubstr("evaluate"))));
  test::train(*model, spec, 1, 1);
  const auto loss = model->evaluate(test::tokens(spec, 2));
  ASSERT_FALSE(loss);
  EXPECT_EQ(loss.error().kind, ErrorKind::usage);
}

TEST(DeviceModel, SaysWhatCannotBe) {
  TrainingSpec spec = tiny_spec();
  DeviceConfig config = simulated(Placement::host, 3);
  spec.batch_size = 3;
  auto model = make_device_model(spec, config);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().kind, ErrorKind::usage);
  EXPECT_THAT(model.error().message(), HasSubstr("has 2 devices, and mesh_shape asks for 3"));
  config = simulated(Placement::host, 2);
  EXPECT_FALSE(make_device_model(spec, config));  // three sequences for two devices
  config.device.plugin = "/nonexistent/plugin.so";
  model = make_device_model(spec, config);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().kind, ErrorKind::usage);
}

TEST(DeviceModel, ALossThatIsNoNumberChangesNothing) {
  TrainingSpec spec = tiny_spec();
  const auto model = make_on_device(spec, simulated(Placement::host));
  test::train(*model, spec, 1, 1);
  ASSERT_TRUE(model->gather_state());
  std::vector<checkpoint::TensorView> views = model->model_state();
  std::vector<float> broken(16, NAN);
  for (checkpoint::TensorView& view : views) {
    if (view.info.name == "core.blocks.1.ln1.weight") {
      view.bytes = std::as_bytes(std::span(broken));
    }
  }
  ASSERT_TRUE(model->restore(test::fill_from(views, model->optimizer_state()), 1));
  const State before = state_of(*model);
  const auto step = model->step(test::tokens(spec, 2));
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().kind, ErrorKind::permanent);
  EXPECT_TRUE(test::same_bits(before, state_of(*model)));
}

}  // namespace
}  // namespace trainward::trainer
