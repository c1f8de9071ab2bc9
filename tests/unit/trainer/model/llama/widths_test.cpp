// Batches whose rows end in padding are computed in narrower rows, and nobody can tell.
#include <gtest/gtest.h>

#include "model/llama/rows.hpp"
#include "trainer/model/cpu/batch_inputs.hpp"

namespace trainward::trainer {
namespace {

using test::Rows;
using test::State;

// Rows that hold one example each, as long as `longest` at most.
Rows padded_rows(const TrainingSpec& spec, std::int64_t longest, std::uint64_t seed) {
  graph::test::Draw draw(seed);
  Rows rows;
  for (std::int64_t row = 0; row < spec.sequences_per_step(); ++row) {
    const std::int64_t length = row == 0 ? longest : draw.size(2, longest);
    for (std::int64_t i = 0; i < spec.block_size; ++i) {
      const bool there = i < length;
      rows.ids.push_back(there ? static_cast<std::int32_t>(draw.size(0, spec.model.vocabulary - 1))
                               : 0);
      rows.weights.push_back(there && i > 0 ? 1.0F : 0.0F);
    }
  }
  test::normalise(rows);
  return rows;
}

TEST(BatchWidth, IsThatOfTheLastTarget) {
  const std::vector<std::int32_t> ids(12);
  const auto needed = [&](const std::vector<float>& weights) {
    return width_needed(TokenBatch(ids, weights, {}), 6);
  };
  EXPECT_EQ(needed({0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0}), 3);
  EXPECT_EQ(needed({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}), 6);
  // What is said of a row's first token counts for nothing.
  EXPECT_EQ(needed({1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0}), 1);
}

// The same rows as packed ones, which are never cut, are the model to compare with.
TEST(BatchWidth, NarrowRowsComeToTheSame) {
  TrainingSpec narrow = test::llama_spec();
  narrow.segmented = false;
  narrow.block_size = 256;
  narrow.accumulation = 3;
  for (const TrainingSpec& spec : {narrow, test::with_lora(narrow, 0.2)}) {
    TrainingSpec whole = spec;
    whole.segmented = true;
    const State at = test::stirred(spec);
    for (const std::int64_t longest : {20, 33, 100, 256}) {
      SCOPED_TRACE(longest);
      Rows rows = padded_rows(spec, longest, static_cast<std::uint64_t>(longest));
      const auto cut = test::make_from(spec, at);
      const StepResult a = test::step(*cut, rows.batch());
      rows.segments.assign(rows.ids.size(), 1);
      const auto uncut = test::make_from(whole, at);
      const StepResult b = test::step(*uncut, rows.batch());
      EXPECT_NEAR(a.loss / b.loss, 1, 1e-6);
      EXPECT_NEAR(a.grad_norm / b.grad_norm, 1, 2e-5);
      EXPECT_LE(test::apart(test::copy_of(cut->model_state()), test::copy_of(uncut->model_state())),
                2e-5);
    }
  }
}

}  // namespace
}  // namespace trainward::trainer
