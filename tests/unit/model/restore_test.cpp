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
  EXPECT_EQ(status.error().kind, ErrorKind::corrupt);
  EXPECT_THAT(status.error().what,
              ::testing::AllOf(::testing::HasSubstr("core.ln.bias is missing"),
                               ::testing::HasSubstr("ar.proj.bias is F32[32,2] instead of F32[64]"),
                               ::testing::HasSubstr("2 of")));
  EXPECT_TRUE(test::same_bits(before, test::copy_of(model->model_state())));
}

}  // namespace
}  // namespace trainward::trainer
