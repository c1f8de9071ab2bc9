// Several ranks train as one does: the same curve to rounding, the same bits on every rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>

#include "model/thread_ranks.hpp"
#include "model/tiny.hpp"
#include "trainer/model/cpu/parallel_model.hpp"

namespace trainward::trainer {
namespace {

using test::State;

struct Course {
  std::vector<double> losses, norms, evaluations;
  State model;
};

// Two steps, an evaluation, two more.
Course train_course(Trainable& model, const TrainingSpec& whole) {
  Course course;
  for (std::uint64_t step = 1; step <= 4; ++step) {
    const auto done = model.step(test::tokens(whole, step));
    EXPECT_TRUE(done) << done.error().message();
    if (!done) return course;
    course.losses.push_back(done->loss);
    course.norms.push_back(done->grad_norm);
    if (step != 2) continue;
    std::vector<std::int32_t> held_out = test::tokens(whole, 99);
    held_out.resize(static_cast<std::size_t>(whole.batch_size * whole.block_size));
    const auto loss = model.evaluate(held_out);
    EXPECT_TRUE(loss) << loss.error().message();
    course.evaluations.push_back(loss ? *loss : NAN);
  }
  course.model = test::copy_of(model.model_state());
  return course;
}

// Copies the state when the model goes away, which is after the last step.
struct Watched final : Trainable {
  Watched(std::unique_ptr<Trainable> own, State& end) : inner(std::move(own)), state(end) {}
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  Watched(Watched&&) = delete;
  Watched& operator=(Watched&&) = delete;
  ~Watched() override { state = test::copy_of(inner->model_state()); }
  Result<StepResult> step(const TokenBatch& t) override { return inner->step(t); }
  Result<double> evaluate(const TokenBatch& t) override { return inner->evaluate(t); }
  [[nodiscard]] std::vector<checkpoint::TensorView> model_state() const override {
    return inner->model_state();
  }
  [[nodiscard]] std::vector<checkpoint::TensorView> optimizer_state() const override {
    return inner->optimizer_state();
  }
  Status restore(const checkpoint::FillTensors& fill, std::int64_t steps) override {
    return inner->restore(fill, steps);
  }
  Result<std::vector<std::uint64_t>> checksums() override { return inner->checksums(); }
  [[nodiscard]] std::int64_t parameter_count() const override { return inner->parameter_count(); }
  [[nodiscard]] std::int64_t total_parameters() const override { return inner->total_parameters(); }
  [[nodiscard]] std::size_t arena_bytes() const override { return inner->arena_bytes(); }
  std::unique_ptr<Trainable> inner;
  State& state;
};

// What rank 0 sees, and the state of the others' models at the end.
struct Together {
  Course course;
  std::vector<State> others;
};

Together train_together(const TrainingSpec& whole, int ranks) {
  Together result;
  result.others.resize(static_cast<std::size_t>(ranks) - 1);
  test::as_ranks(ranks, [&](Communicator& peers) {
    if (peers.rank() == 0) {
      {
        auto leader = make_leader(whole, peers, make_cpu_part);
        ASSERT_TRUE(leader) << leader.error().message();
        result.course = train_course(**leader, whole);
      }
      dismiss_followers(peers, 7);
      return;
    }
    State& state = result.others[static_cast<std::size_t>(peers.rank()) - 1];
    const auto code = follow(
        peers,
        [&](const TrainingSpec& part, Communicator& group) -> Result<std::unique_ptr<Trainable>> {
          auto inner = make_cpu_part(part, group);
          if (!inner) return propagate(inner);
          return std::make_unique<Watched>(*std::move(inner), state);
        });
    ASSERT_TRUE(code) << code.error().message();
    EXPECT_EQ(*code, 7);
  });
  return result;
}

// What rank 0 does with the model of so many ranks; the others follow.
void lead(const TrainingSpec& spec, int ranks, const std::function<void(Trainable&)>& work) {
  test::as_ranks(ranks, [&](Communicator& peers) {
    if (peers.rank() != 0) {
      EXPECT_TRUE(follow(peers, make_cpu_part));
      return;
    }
    {
      auto leader = make_leader(spec, peers, make_cpu_part);
      ASSERT_TRUE(leader) << leader.error().message();
      work(**leader);
    }
    dismiss_followers(peers, 0);
  });
}

// Its time is a part of the step's, and one process alone has none.
TEST(Parallel, TellsTheTimeOfTheExchange) {
  TrainingSpec spec = test::tiny_spec();
  spec.threads = 1;
  lead(spec, 2, [&](Trainable& model) {
    const auto began = std::chrono::steady_clock::now();
    const auto step = model.step(test::tokens(spec, 1));
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - began;
    ASSERT_TRUE(step);
    EXPECT_GT(step->communication_us, 0);
    EXPECT_LE(static_cast<double>(step->communication_us), took.count());
  });
  auto alone = make_cpu_model(spec);
  ASSERT_TRUE(alone);
  EXPECT_EQ((*alone)->step(test::tokens(spec, 1)).value().communication_us, 0);
}

// Since it was last asked.
TEST(Parallel, TellsWhatEachRankDid) {
  TrainingSpec spec = test::tiny_spec();
  spec.threads = 1;
  spec.batch_size = 3;
  lead(spec, 3, [&](Trainable& model) {
    double loss = 0;
    for (std::uint64_t step = 1; step <= 2; ++step) {
      const auto done = model.step(test::tokens(spec, step));
      ASSERT_TRUE(done);
      loss += done->loss;
    }
    const auto uses = model.take_use();
    ASSERT_TRUE(uses);
    ASSERT_EQ(uses->size(), 3U);
    double own = 0;
    for (const PartUse& use : *uses) {
      own += use.loss.value();
      EXPECT_GT(use.compute.value().count(), 0);
      EXPECT_GT(use.collective.value().count(), 0);
    }
    EXPECT_NEAR(own / 3, loss, 1e-6) << "the mean of their own losses";
    EXPECT_NE(uses->at(0).loss, uses->at(1).loss);
    const auto none = model.take_use();
    ASSERT_TRUE(none);
    EXPECT_EQ(none->at(1).compute.value().count(), 0) << "it begins again";
  });
}

TEST(Parallel, EveryRankTellsTheChecksumOfItsCopy) {
  TrainingSpec spec = test::tiny_spec();
  spec.threads = 1;
  spec.batch_size = 3;
  lead(spec, 3, [&](Trainable& model) {
    const auto before = model.checksums();
    ASSERT_TRUE(before);
    EXPECT_EQ(*before, std::vector<std::uint64_t>(3, before->front()));
    ASSERT_TRUE(model.step(test::tokens(spec, 1)));
    const auto after = model.checksums();
    ASSERT_TRUE(after);
    EXPECT_NE(after->front(), before->front());
    EXPECT_EQ(*after, std::vector<std::uint64_t>(3, after->front()));
  });
}

TEST(Parallel, TrainsAsOneDoes) {
  const std::uint64_t seed = 20260;
  RecordProperty("seed", std::to_string(seed));
  graph::test::Draw draw(seed);
  for (int round = 0; round < 12; ++round) {
    const int ranks = static_cast<int>(draw.size(2, 4));
    TrainingSpec spec = test::tiny_spec();
    spec.threads = 1;
    spec.block_size = draw.size(2, 9);
    spec.batch_size = draw.size(1, 3);
    spec.accumulation = draw.size(1, 3);
    (draw.size(0, 1) == 0 ? spec.batch_size : spec.accumulation) *= ranks;
    spec.dropout = draw.size(0, 1) == 0 ? 0 : 0.3;
    spec.model.tied = draw.size(0, 1) == 0;
    spec.recompute = draw.size(0, 1) == 0;
    spec.label_smoothing = draw.size(0, 1) == 0 ? 0 : 0.1;
    if (draw.size(0, 2) == 0) spec.model = test::as_gpt2(spec.model, spec.block_size);
    SCOPED_TRACE(fmt::format("seed {} round {}: {} ranks, batch {} x {}, block {}, dropout {}",
                             seed, round, ranks, spec.batch_size, spec.accumulation,
                             spec.block_size, spec.dropout) +
                 std::string(architecture_of(spec.model).title()));
    const Course alone = train_course(*test::make(spec), spec);
    const Together together = train_together(spec, ranks);
    ASSERT_EQ(together.course.losses.size(), alone.losses.size());
    for (std::size_t i = 0; i < alone.losses.size(); ++i) {
      EXPECT_NEAR(together.course.losses[i], alone.losses[i], 1e-5 * alone.losses[i]) << i;
      EXPECT_NEAR(together.course.norms[i], alone.norms[i], 1e-3 * alone.norms[i]) << i;
    }
    EXPECT_NEAR(together.course.evaluations.at(0), alone.evaluations.at(0), 1e-5);
    for (const State& other : together.others)
      EXPECT_TRUE(test::same_bits(other, together.course.model));
    EXPECT_TRUE(test::same_bits(train_together(spec, ranks).course.model, together.course.model))
        << "another run has other bits";
  }
}

void expect_a_restored_leader_brings_everyone_along(graph::Precision precision, double slack) {
  TrainingSpec spec = test::tiny_spec();
  spec.precision = precision;
  spec.threads = 1;
  spec.batch_size = 4;
  const auto alone = test::make(spec);
  test::train(*alone, spec, 1, 3);
  StepResult resumed;
  test::as_ranks(2, [&](Communicator& peers) {
    if (peers.rank() != 0) {
      EXPECT_TRUE(follow(peers, make_cpu_part));
      return;
    }
    TrainingSpec other = spec;
    other.seed = 777;  // what it starts with must not matter
    {
      const auto leader = *make_leader(other, peers, make_cpu_part);
      ASSERT_TRUE(
          leader->restore(test::fill_from(alone->model_state(), alone->optimizer_state()), 3));
      resumed = test::train(*leader, spec, 4, 6);
    }
    dismiss_followers(peers, 0);
  });
  const StepResult expected = test::train(*alone, spec, 4, 6);
  EXPECT_NEAR(resumed.loss, expected.loss, slack * expected.loss);
  EXPECT_NEAR(resumed.grad_norm, expected.grad_norm, 100 * slack * expected.grad_norm);
}
TEST(Parallel, ARestoredLeaderBringsEveryoneAlong) {
  expect_a_restored_leader_brings_everyone_along(graph::Precision::f32, 1e-5);
}
// A sum in another order may round to the other side; weights left as they began would show.
TEST(Parallel, ARestoredLeaderBringsEveryoneAlongInBf16) {
  expect_a_restored_leader_brings_everyone_along(graph::Precision::bf16, 1e-4);
}

TEST(Parallel, WhatCannotBeSplitIsRefusedAndTheOthersAreLetGo) {
  TrainingSpec spec = test::tiny_spec();
  spec.batch_size = 3;
  spec.accumulation = 5;
  test::as_ranks(2, [&](Communicator& peers) {
    if (peers.rank() != 0) {
      const auto code = follow(peers, make_cpu_part);
      EXPECT_TRUE(code && *code == 78);
      return;
    }
    const auto leader = make_leader(spec, peers, make_cpu_part);
    ASSERT_FALSE(leader);
    EXPECT_EQ(leader.error().kind, ErrorKind::usage);
    EXPECT_THAT(leader.error().message(), testing::HasSubstr("batch of 3"));
    dismiss_followers(peers, 78);
  });
}

TEST(Parallel, ABadTokenFailsTheStepAndNobodyWaitsForEver) {
  TrainingSpec spec = test::tiny_spec();
  spec.batch_size = 2;
  spec.threads = 1;
  test::as_ranks(2, [&](Communicator& peers) {
    if (peers.rank() != 0) {
      EXPECT_TRUE(follow(peers, make_cpu_part));
      return;
    }
    {
      const auto leader = *make_leader(spec, peers, make_cpu_part);
      std::vector<std::int32_t> tokens = test::tokens(spec, 1);
      tokens.back() = 1000;  // in the other rank's part
      EXPECT_FALSE(leader->step(tokens));
      EXPECT_FALSE(leader->evaluate(tokens));
      EXPECT_TRUE(leader->step(test::tokens(spec, 1)));
    }
    dismiss_followers(peers, 0);
  });
}

TEST(Parallel, ARanksOwnErrorIsItsOwn) {
  test::as_ranks(2, [&](Communicator& peers) {
    const auto refuse = [](const TrainingSpec&,
                           Communicator&) -> Result<std::unique_ptr<Trainable>> {
      return fail(ErrorKind::permanent, "no memory here");
    };
    if (peers.rank() == 0) {
      EXPECT_TRUE(make_leader(test::tiny_spec(), peers, make_cpu_part));
    } else {
      const auto code = follow(peers, refuse);
      ASSERT_FALSE(code);
      EXPECT_THAT(code.error().message(), testing::HasSubstr("no memory here"));
    }
  });
}

}  // namespace
}  // namespace trainward::trainer
