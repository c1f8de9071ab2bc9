// A Llama that stops anywhere and goes on ends where one that never stopped ends, bit for bit; and
// what is dropped for an adapter is a function of the seed, the step, the layer, the module and the
// token's place in the step alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "cpu/harness.hpp"
#include "model/llama/rows.hpp"
#include "model/thread_ranks.hpp"
#include "trainer/model/cpu/parallel_model.hpp"
#include "trainer/model/layers.hpp"
#include "trainer/model/training/dropout_keys.hpp"

namespace trainward::trainer {
namespace {

using graph::test::Numbers;
using test::Rows;
using test::State;

struct Whole {
  State model, optimizer;
};
Whole whole_of(const Trainable& model) {
  return {test::copy_of(model.model_state()), test::copy_of(model.optimizer_state())};
}

// Its tensors, copied, as a checkpoint would bring them back.
void restore(Trainable& model, const Whole& saved, std::int64_t steps) {
  auto weights = model.model_state();
  auto moments = model.optimizer_state();
  for (auto& view : weights) view.bytes = std::as_bytes(std::span(saved.model.at(view.info.name)));
  for (auto& view : moments) {
    view.bytes = std::as_bytes(std::span(saved.optimizer.at(view.info.name)));
  }
  const Status ok = model.restore(test::fill_from(weights, moments), steps);
  EXPECT_TRUE(ok) << ok.error().message();
}

std::vector<TrainingSpec> kinds() {
  std::vector<TrainingSpec> all{test::llama_spec(), test::with_lora(test::llama_spec()),
                                test::with_lora(test::llama_spec(), 0.25)};
  all.push_back(all[2]);
  all.back().precision = graph::Precision::bf16;
  all.back().recompute = true;
  all.back().accumulation = 2;
  all.push_back(all[2]);
  all.back().dropout = 0.2;
  all.back().threads = 2;
  all.back().schedule = {optim::Schedule::Shape::cosine, 2, 8, 0.1};
  return all;
}

TEST(LlamaResume, ContinuesBitForBitFromAnyStep) {
  constexpr std::uint64_t steps = 6;
  for (const TrainingSpec& spec : kinds()) {
    const auto rows = [&](std::uint64_t i) { return test::packed_rows(spec, i); };
    const auto straight = test::make(spec);
    std::vector<Whole> saved{whole_of(*straight)};
    for (std::uint64_t i = 1; i <= steps; ++i) {
      test::step(*straight, rows(i).batch());
      saved.push_back(whole_of(*straight));
    }
    for (std::uint64_t stop = 0; stop < steps; ++stop) {
      const auto second = test::make(spec);
      restore(*second, saved[stop], static_cast<std::int64_t>(stop));
      for (std::uint64_t i = stop + 1; i <= steps; ++i) test::step(*second, rows(i).batch());
      const Whole end = whole_of(*second);
      EXPECT_TRUE(test::same_bits(end.model, saved.back().model)) << stop;
      EXPECT_TRUE(test::same_bits(end.optimizer, saved.back().optimizer)) << stop;
    }
  }
}

TEST(LlamaResume, ACheckpointHoldsAdaptersAndTheirMomentsAlone) {
  const TrainingSpec spec = test::with_lora(test::llama_spec());
  const auto model = test::make(spec);
  std::set<std::string> names;
  for (const auto& view : model->model_state()) {
    EXPECT_THAT(view.info.name, ::testing::HasSubstr(".lora_"));
    names.insert(view.info.name);
  }
  EXPECT_EQ(names.size(), 2U * 7 * 2);
  EXPECT_EQ(model->optimizer_state().size(), 2 * names.size());
  for (const auto& view : model->optimizer_state()) {
    EXPECT_TRUE(names.contains(view.info.name.substr(0, view.info.name.rfind('.'))))
        << view.info.name;
  }
  EXPECT_LT(model->parameter_count(), model->total_parameters());
}

// ---- What is dropped --------------------------------------------------------------------------

// With a rate of zero nothing moves, so each step's loss tells its masks from others.
TrainingSpec still() {
  TrainingSpec spec = test::with_lora(test::llama_spec(), 0.4);
  spec.learning_rate = spec.head_learning_rate = spec.weight_decay = 0;
  return spec;
}

TEST(LlamaDropout, DiffersBetweenStepsAndIsNotUsedInEvaluation) {
  const TrainingSpec spec = still();
  const auto model = test::make_from(spec, test::stirred(spec));
  const Rows rows = test::packed_rows(spec, 1);
  std::set<double> losses{test::evaluated(*model, rows.batch())};
  for (int i = 0; i < 5; ++i) losses.insert(test::step(*model, rows.batch()).loss);
  EXPECT_EQ(losses.size(), 6U);
  EXPECT_EQ(test::evaluated(*model, rows.batch()), test::evaluated(*model, rows.batch()));
  TrainingSpec none = spec;
  none.model.lora.dropout = 0;
  EXPECT_EQ(test::evaluated(*model, rows.batch()),
            test::evaluated(*test::make_from(none, test::stirred(spec)), rows.batch()));
}

// The same row twice: the mean of both losses is not the loss of one, unless both drop alike.
Rows twice(const Rows& one) {
  Rows both = one;
  both.ids.insert(both.ids.end(), one.ids.begin(), one.ids.end());
  both.weights.insert(both.weights.end(), one.weights.begin(), one.weights.end());
  both.segments.insert(both.segments.end(), one.segments.begin(), one.segments.end());
  test::normalise(both);
  return both;
}

TEST(LlamaDropout, DiffersBetweenRowsBatchesAndRanks) {
  TrainingSpec one = still();
  one.batch_size = 1;
  const State at = test::stirred(one);
  const Rows row = test::packed_rows(one, 1);
  const double alone = test::step(*test::make_from(one, at), row.batch()).loss;
  TrainingSpec rows = one;
  rows.batch_size = 2;
  const double in_rows = test::step(*test::make_from(rows, at), twice(row).batch()).loss;
  TrainingSpec batches = one;
  batches.accumulation = 2;
  const double in_batches = test::step(*test::make_from(batches, at), twice(row).batch()).loss;
  double over_ranks = 0;
  test::as_ranks(2, [&](Communicator& peers) {
    TrainingSpec part = one;
    part.ranks = 2;
    const auto model = make_cpu_part(part, peers);
    ASSERT_TRUE(model);
    auto views = (*model)->model_state();
    for (auto& view : views) view.bytes = std::as_bytes(std::span(at.at(view.info.name)));
    EXPECT_TRUE((*model)->restore(test::fill_from(views, (*model)->optimizer_state()), 0));
    Rows half = row;
    for (float& weight : half.weights) weight /= 2;
    const double loss = test::step(**model, half.batch()).loss;
    if (peers.rank() == 0) over_ranks = loss;
  });
  EXPECT_GT(std::abs(in_rows - alone), 1e-4) << "two rows drop the same";
  // However the step is cut, it drops the same.
  EXPECT_NEAR(in_batches / in_rows, 1, 1e-6);
  EXPECT_NEAR(over_ranks / in_rows, 1, 1e-6);
}

TEST(LlamaDropout, KeysCountTokensAndDifferBetweenLayersAndSteps) {
  TrainingSpec spec = still();
  spec.accumulation = 3;
  spec.model.layers = 5;
  DropoutKeys keys(spec);
  std::set<std::pair<std::int32_t, std::int32_t>> seen;
  for (std::int64_t step = 0; step < 20; ++step) {
    keys.draw(step);
    for (std::size_t layer = 0; layer < 5; ++layer) {
      EXPECT_TRUE(seen.emplace(keys.of(layer)[0], keys.of(layer)[1]).second);
    }
  }
  const auto tokens = static_cast<std::int32_t>(spec.batch_size * spec.block_size);
  for (const std::int32_t rank : {0, 1, 2}) {
    for (const std::int32_t batch : {0, 1, 2}) {
      keys.place(rank, batch);
      EXPECT_EQ(keys.of(4)[2], (rank * 3 + batch) * tokens);
    }
  }
}

// Which of 64 tokens' elements are kept, of a tensor of this width.
Numbers kept(std::int32_t salt, std::int64_t width, std::int32_t first = 0,
             std::int64_t tokens = 64) {
  graph::Builder b;
  const graph::Value x = b.parameter("x", {graph::Element::f32, {1, tokens, width}});
  const graph::Value key = b.parameter("key", {graph::Element::i32, {3}});
  const graph::Value y = dropout(b, x, key, 0.5, {.row = tokens, .salt = salt});
  const graph::Graph graph = *b.finish(std::vector{y});
  const Numbers ones(static_cast<std::size_t>(tokens * width), 1.0);
  const auto words = cpu::test::execute(graph, 1, {ones, {123456, -98765, double(first)}});
  return cpu::test::numbers_of(words[0], graph::Element::f32);
}

// Also when the one is looked at in another order: modules that drop the same elements, only moved
// a little, would not be independent.
TEST(LlamaDropout, ModulesDropIndependently) {
  std::array<Numbers, 8> masks;
  for (std::size_t i = 0; i < masks.size(); ++i) masks[i] = kept(static_cast<std::int32_t>(i), 64);
  const std::size_t size = masks[0].size();
  for (std::size_t a = 0; a < masks.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      for (std::size_t moved = 0; moved < 64; ++moved) {
        double same = 0;
        for (std::size_t i = 0; i < size; ++i) same += masks[a][i ^ moved] == masks[b][i] ? 1 : 0;
        ASSERT_NEAR(same / static_cast<double>(size), 0.5, 0.05)
            << "modules " << a << " and " << b << ", moved by " << moved;
      }
    }
  }
}

TEST(LlamaDropout, PartsOfAStepDropWhatTheWholeDoes) {
  for (const std::int64_t width : {16, 48}) {
    const Numbers whole = kept(3, width);
    const Numbers part = kept(3, width, 40, 24);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 40 * width));
  }
}

}  // namespace
}  // namespace trainward::trainer
