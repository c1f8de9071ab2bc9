// A model that stops and goes on from its state ends where one that never stopped ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/tiny.hpp"

namespace trainward::trainer {
namespace {

using checkpoint::TensorView;

struct Saved {
  std::vector<TensorView> model, optimizer;
  std::vector<std::vector<std::byte>> bytes;
};

// A copy that outlives the model, as a file would.
Saved save(const Trainable& model) {
  Saved saved{model.model_state(), model.optimizer_state(), {}};
  saved.bytes.reserve(saved.model.size() + saved.optimizer.size());
  for (std::vector<TensorView>* views : {&saved.model, &saved.optimizer}) {
    for (TensorView& view : *views) {
      saved.bytes.emplace_back(view.bytes.begin(), view.bytes.end());
      view.bytes = saved.bytes.back();
    }
  }
  return saved;
}

TEST(Restore, ContinuesBitForBitFromAnyStep) {
  TrainingSpec spec = test::tiny_spec();
  spec.schedule.warmup_steps = 4;
  const auto straight = test::make(spec);
  test::train(*straight, spec, 1, 8);
  for (const std::uint64_t stop : {1, 3, 7}) {
    SCOPED_TRACE(stop);
    Saved saved;
    {
      const auto first = test::make(spec);
      test::train(*first, spec, 1, stop);
      saved = save(*first);
    }
    TrainingSpec other = spec;
    other.seed = 777;  // what it starts with must not matter
    const auto second = test::make(other);
    ASSERT_TRUE(second->restore(test::fill_from(saved.model, saved.optimizer),
                                static_cast<std::int64_t>(stop)));
    test::train(*second, spec, stop + 1, 8);
    EXPECT_TRUE(test::same_bits(test::copy_of(straight->model_state()),
                                test::copy_of(second->model_state())));
    EXPECT_TRUE(test::same_bits(test::copy_of(straight->optimizer_state()),
                                test::copy_of(second->optimizer_state())));
  }
}

TrainingSpec drawn(graph::test::Draw& draw) {
  TrainingSpec spec = test::tiny_spec();
  spec.model.heads = draw.size(1, 3);
  spec.model.width = spec.model.heads * draw.size(2, 8);
  spec.model.layers = draw.size(1, 3);
  spec.model.rank = draw.size(1, 12);
  spec.model.tied = draw.size(0, 1) == 1;
  spec.batch_size = draw.size(1, 3);
  spec.block_size = draw.size(2, 24);
  spec.accumulation = draw.size(1, 3);
  spec.dropout = 0.25 * static_cast<double>(draw.size(0, 2));
  spec.label_smoothing = 0.1 * static_cast<double>(draw.size(0, 1));
  spec.recompute = draw.size(0, 1) == 1;
  spec.schedule = {optim::Schedule::Shape::cosine, draw.size(0, 4), 9, 0.1};
  spec.threads = static_cast<int>(draw.size(1, 2));
  if (draw.size(0, 1) == 1) spec.precision = graph::Precision::bf16;
  return spec;
}

// Whatever is trained, and however often it stops.
TEST(Restore, AnyRunThatStopsAnywhereEndsTheSame) {
  constexpr std::uint64_t steps = 9;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    graph::test::Draw draw(seed);
    const TrainingSpec spec = drawn(draw);
    const auto straight = test::make(spec);
    test::train(*straight, spec, 1, steps);
    auto broken = test::make(spec);
    std::uint64_t at = 0;
    while (at < steps) {
      const auto stop =
          static_cast<std::uint64_t>(draw.size(static_cast<std::int64_t>(at) + 1, steps));
      test::train(*broken, spec, at + 1, stop);
      const Saved saved = save(*broken);
      broken = test::make(spec);
      ASSERT_TRUE(broken->restore(test::fill_from(saved.model, saved.optimizer),
                                  static_cast<std::int64_t>(stop)));
      at = stop;
    }
    EXPECT_TRUE(test::same_bits(test::copy_of(straight->model_state()),
                                test::copy_of(broken->model_state())));
    EXPECT_TRUE(test::same_bits(test::copy_of(straight->optimizer_state()),
                                test::copy_of(broken->optimizer_state())));
  }
}

TEST(Restore, NamesEveryTensorThatDoesNotFitAndChangesNothing) {
  const TrainingSpec spec = test::tiny_spec();
  const auto source = test::make(spec);
  Saved saved = save(*source);
  TrainingSpec other = spec;
  other.seed = 5;
  const auto model = test::make(other);
  const test::State before = test::copy_of(model->model_state());
  std::erase_if(saved.model,
                [](const TensorView& view) { return view.info.name == "core.ln.bias"; });
  for (TensorView& view : saved.model) {
    if (view.info.name == "ar.proj.bias") view.info.shape = {32, 2};
  }
  saved.optimizer.front().info.dtype = checkpoint::DType::bf16;
  const Status status = model->restore(test::fill_from(saved.model, saved.optimizer), 3);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::usage);
  EXPECT_THAT(status.error().what,
              ::testing::AllOf(::testing::HasSubstr("core.ln.bias is missing"),
                               ::testing::HasSubstr("ar.proj.bias is F32[32,2] instead of F32[64]"),
                               ::testing::HasSubstr("2 of")));
  EXPECT_TRUE(test::same_bits(before, test::copy_of(model->model_state())));
}

}  // namespace
}  // namespace trainward::trainer
