// What must come to the same: recomputed or kept, the head in pieces or whole, a step in one batch
// or many or over ranks, packed or apart, with an adapter that adds nothing or without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/llama/rows.hpp"
#include "model/thread_ranks.hpp"
#include "trainer/model/cpu/parallel_model.hpp"
#include "trainer/model/training/segments.hpp"

namespace trainward::trainer {
namespace {

using test::Rows;
using test::State;

// The loss and all gradients of a spec are those of another on the same rows.
void expect_same_step(const TrainingSpec& a, const TrainingSpec& b, const Rows& rows,
                      double slack) {
  const State at = test::stirred(a);
  EXPECT_NEAR(test::step(*test::make_from(a, at), rows.batch()).loss /
                  test::step(*test::make_from(b, at), rows.batch()).loss,
              1, slack);
  EXPECT_LE(test::apart(test::gradients(b, at, rows.batch()), test::gradients(a, at, rows.batch())),
            10 * slack);
}

TEST(HeadRows, DivideThePositionsOrAreAllOfThem) {
  TrainingSpec spec;
  spec.model.vocabulary = 128'256;
  const auto rows = [&](std::int64_t batch, std::int64_t block) {
    spec.batch_size = batch;
    spec.block_size = block;
    return head_rows(spec);
  };
  EXPECT_EQ(rows(4, 256), 128);
  EXPECT_EQ(rows(1, 64), 64);
  EXPECT_EQ(rows(1, 1021), 1021);  // a prime: row by row would take for ever
}

TEST(LlamaEqualities, RecomputedIsWhatWasKept) {
  for (const TrainingSpec& kept : {test::llama_spec(), test::with_lora(test::llama_spec()),
                                   test::with_lora(test::llama_spec(), 0.2)}) {
    TrainingSpec again = kept;
    again.recompute = true;
    expect_same_step(kept, again, test::packed_rows(kept, 1), 1e-6);
  }
}

// Of so large a vocabulary that not all logits of a batch are made at once.
TEST(LlamaEqualities, AHeadInPiecesIsTheWholeHead) {
  TrainingSpec pieces = test::llama_spec();
  pieces.model.vocabulary = (1 << 18) - 5;
  pieces.model.width = 8;
  llama_part(pieces.model).inner = 12;
  pieces.model.layers = 1;
  pieces.block_size = 33;
  pieces.segmented = false;
  pieces.threads = 2;
  for (const bool tied : {false, true}) {
    pieces.model.tied = tied;
    ASSERT_EQ(head_rows(pieces), 33) << "this is the whole batch of 66 positions";
    TrainingSpec whole = pieces;
    whole.weighted = false;
    Rows rows = test::packed_rows(pieces, 1);
    rows.segments.clear();
    const auto block = static_cast<std::size_t>(pieces.block_size);
    // The first of a row counts for nothing, whatever is said of it.
    for (std::size_t i = 0; i < rows.weights.size(); ++i) {
      rows.weights[i] = i % block == 0 ? 5.0F : 1.0F / 64;
    }
    const State at = test::stirred(pieces);
    const TokenBatch plain = rows.ids;
    const auto in_pieces = test::make_from(pieces, at);
    const auto at_once = test::make_from(whole, at);
    EXPECT_NEAR(test::evaluated(*in_pieces, rows.batch()) / test::evaluated(*at_once, plain), 1,
                1e-6);
    const StepResult a = test::step(*in_pieces, rows.batch());
    const StepResult b = test::step(*at_once, plain);
    EXPECT_NEAR(a.loss / b.loss, 1, 1e-6);
    EXPECT_NEAR(a.grad_norm / b.grad_norm, 1, 1e-5);
    EXPECT_LE(
        test::apart(test::copy_of(in_pieces->model_state()), test::copy_of(at_once->model_state())),
        1e-5);
  }
}

TEST(LlamaEqualities, ManySmallBatchesAreOneLargeOne) {
  for (const TrainingSpec& each : {test::llama_spec(), test::with_lora(test::llama_spec()),
                                   test::with_lora(test::llama_spec(), 0.3)}) {
    TrainingSpec large = each;
    large.batch_size = 6;
    const Rows rows = test::packed_rows(large, 1);
    for (const std::int64_t batch : {1, 2, 3}) {
      TrainingSpec small = large;
      small.batch_size = batch;
      small.accumulation = 6 / batch;
      expect_same_step(large, small, rows, 1e-6);
    }
  }
}

// A mean of the batches' means is another loss: rows have unequal numbers of targets.
TEST(LlamaEqualities, TheLossIsNotAMeanOfMeans) {
  TrainingSpec spec = test::llama_spec();
  spec.batch_size = 4;
  const auto model = test::make_from(spec, test::stirred(spec));
  const Rows rows = test::packed_rows(spec, 3);
  const double loss = test::evaluated(*model, rows.batch());
  double means = 0;
  int counted = 0;
  for (std::int64_t row = 0; row < spec.batch_size; ++row) {
    Rows alone = rows;
    for (std::size_t i = 0; i < alone.weights.size(); ++i) {
      if (static_cast<std::int64_t>(i) / spec.block_size != row) alone.weights[i] = 0;
    }
    const bool any = *std::max_element(alone.weights.begin(), alone.weights.end()) > 0;
    if (!any) continue;
    test::normalise(alone);
    means += test::evaluated(*model, alone.batch());
    ++counted;
  }
  ASSERT_EQ(counted, 3) << "one row has no targets";
  EXPECT_GT(std::abs(means / counted - loss), 1e-3);
}

TEST(LlamaEqualities, RanksTrainAsOneDoes) {
  for (const TrainingSpec& each : {test::llama_spec(), test::with_lora(test::llama_spec(), 0.3)}) {
    for (const int ranks : {2, 3}) {
      for (const bool split : {true, false}) {
        TrainingSpec whole = each;
        whole.batch_size = split ? 6 : 1;
        whole.accumulation = split ? 1 : 6;
        SCOPED_TRACE(fmt::format("{} ranks, batch {}, lora {}", ranks, whole.batch_size,
                                 whole.model.lora.rank));
        const auto alone = test::make(whole);
        std::vector<StepResult> expected;
        for (std::uint64_t i = 1; i <= 3; ++i) {
          expected.push_back(test::step(*alone, test::packed_rows(whole, i).batch()));
        }
        test::as_ranks(ranks, [&](Communicator& peers) {
          if (peers.rank() != 0) {
            EXPECT_TRUE(follow(peers, make_cpu_part));
            return;
          }
          {
            const auto leader = make_leader(whole, peers, make_cpu_part);
            ASSERT_TRUE(leader) << leader.error().message();
            for (std::uint64_t i = 1; i <= 3; ++i) {
              const StepResult got = test::step(**leader, test::packed_rows(whole, i).batch());
              EXPECT_NEAR(got.loss / expected[i - 1].loss, 1, 1e-5) << i;
              EXPECT_NEAR(got.grad_norm / expected[i - 1].grad_norm, 1, 1e-4) << i;
            }
            EXPECT_LE(test::apart(test::copy_of((*leader)->model_state()),
                                  test::copy_of(alone->model_state())),
                      1e-3);
          }
          dismiss_followers(peers, 0);
        });
      }
    }
  }
}

// One row of three examples, against a row for each, padded at the end.
TEST(LlamaEqualities, PackedExamplesAreThoseOfTheirOwnRows) {
  TrainingSpec packed = test::llama_spec();
  packed.batch_size = 1;
  const Rows together = test::packed_rows(packed, 7);
  const std::int32_t examples = together.segments.back();
  ASSERT_GE(examples, 3);
  TrainingSpec apart = packed;
  apart.batch_size = examples;
  apart.segmented = false;
  Rows separate;
  for (std::int32_t example = 1; example <= examples; ++example) {
    for (std::size_t i = 0; i < together.ids.size(); ++i) {
      if (together.segments[i] != example) continue;
      separate.ids.push_back(together.ids[i]);
      separate.weights.push_back(together.weights[i]);
    }
    separate.ids.resize(static_cast<std::size_t>(example * packed.block_size), 0);
    separate.weights.resize(separate.ids.size(), 0);
  }
  const State at = test::stirred(packed);
  const auto one = test::make_from(packed, at);
  const double expected = test::evaluated(*test::make_from(apart, at), separate.batch());
  EXPECT_NEAR(test::evaluated(*one, together.batch()) / expected, 1, 1e-6);
  EXPECT_LE(test::apart(test::gradients(packed, at, together.batch()),
                        test::gradients(apart, at, separate.batch())),
            1e-5);
  Rows mixed = together;
  std::fill(mixed.segments.begin(), mixed.segments.end(), 1);
  EXPECT_GT(std::abs(test::evaluated(*one, mixed.batch()) - expected), 1e-3)
      << "examples that see each other have the same loss";
}

// In whatever precision, from a folder's bf16 or f32.
TEST(LlamaEqualities, AFreshAdapterAddsNothing) {
  for (const graph::Precision precision : {graph::Precision::f32, graph::Precision::bf16}) {
    TrainingSpec full = test::llama_spec();
    full.precision = precision;
    const TrainingSpec adapted = test::with_lora(full);
    const Rows rows = test::packed_rows(full, 1);
    const auto with = test::make(adapted);
    EXPECT_EQ(test::evaluated(*with, rows.batch()),
              test::evaluated(*test::make(full), rows.batch()));
    for (const auto& [name, gradient] :
         test::gradients(adapted, test::copy_of(with->model_state()), rows.batch())) {
      const bool is_a = name.find("lora_A") != std::string::npos;
      const bool all_zero =
          std::all_of(gradient.begin(), gradient.end(), [](float x) { return x == 0; });
      EXPECT_EQ(all_zero, is_a) << name;
    }
  }
}

TEST(LlamaEqualities, EqualThreadsGiveEqualBits) {
  for (const int threads : {1, 2, 3}) {
    TrainingSpec spec = test::with_lora(test::llama_spec(), 0.2);
    spec.threads = threads;
    const State at = test::stirred(spec);
    const auto run = [&] {
      const auto model = test::make_from(spec, at);
      for (std::uint64_t i = 1; i <= 3; ++i) {
        test::step(*model, test::packed_rows(spec, i).batch());
      }
      return test::copy_of(model->model_state());
    };
    EXPECT_TRUE(test::same_bits(run(), run())) << threads;
  }
}

}  // namespace
}  // namespace trainward::trainer
