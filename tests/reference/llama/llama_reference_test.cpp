// The Llama family against PyTorch in double precision, from the same folders and rows: logits,
// loss, every gradient and 50 AdamW steps, with adapters and without; in bf16 beside PyTorch's own
// autocast; and that each of the usual mistakes would show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ours.hpp"

namespace trainward::trainer {
namespace {

using test::Answers;
using test::Ours;

constexpr double logits_slack = 1e-5;    // of the largest logit
constexpr double gradient_slack = 1e-4;  // of the tensor's norm
constexpr double steps_slack = 1e-5;     // of the loss

// Tensors of the reference have the adapters' names of PEFT's files, ours are without the prefix.
std::string our_name(std::string name) {
  constexpr std::string_view prefix = "base_model.model.";
  if (name.starts_with(prefix)) name.erase(0, prefix.size());
  return name;
}

double worst_of(const std::vector<double>& got, const std::vector<double>& expected) {
  if (got.size() != expected.size()) return HUGE_VAL;
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    worst = std::max(worst, std::abs(got[i] / expected[i] - 1));
  }
  return worst;
}

std::vector<double> loss_at_start(const Ours& ours) {
  const auto loss = ours.make()->evaluate(ours.rows().batch());
  EXPECT_TRUE(loss) << loss.error().message();
  return {loss ? *loss : NAN};
}

class LlamaAgainstPyTorch : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_answers()) GTEST_SKIP() << "PyTorch is not installed for python3";
  }
};

// Each case of a group: f(its answers, the trainer at the same work, what cases.json says).
template <typename F>
void for_each_case(std::string_view group, const F& f) {
  const auto cases = test::cases_of(group);
  EXPECT_FALSE(cases.empty());
  for (const auto& [name, said] : cases) {
    SCOPED_TRACE(name);
    const Answers answers(name);
    const Ours ours(answers);
    f(answers, ours, said);
  }
}

TEST_F(LlamaAgainstPyTorch, LogitsAndLoss) {
  double worst = 0;
  for_each_case("exact", [&](const Answers& answers, const Ours& ours, const auto&) {
    const auto start = test::copy_of(ours.make()->model_state());
    const double apart = test::largest_error(ours.logits(start), answers.numbers("logits"));
    EXPECT_LE(apart, logits_slack);
    EXPECT_LE(worst_of(loss_at_start(ours), answers.numbers("loss")), steps_slack);
    worst = std::max(worst, apart);
  });
  fmt::print("largest error of a logit, of the largest: {:.1e}\n", worst);
}

TEST_F(LlamaAgainstPyTorch, EveryGradient) {
  double worst = 0;
  std::size_t tensors = 0;
  for_each_case("exact", [&](const Answers& answers, const Ours& ours, const auto&) {
    const auto gradients = ours.gradients();
    const std::vector<std::string> names = answers.behind("gradient.");
    EXPECT_EQ(gradients.size(), names.size()) << "what is trained is not what is to be trained";
    for (const std::string& name : names) {
      const std::vector<double> expected = answers.numbers("gradient." + name);
      const auto found = gradients.find(our_name(name));
      ASSERT_NE(found, gradients.end()) << name;
      std::vector<double> got = found->second;
      for (std::size_t i = expected.size(); i < got.size(); ++i) {
        ASSERT_EQ(got[i], 0) << name << ": a row that is padding has a gradient";
      }
      got.resize(std::min(got.size(), expected.size()));
      const double apart = test::norm_error(got, expected);
      EXPECT_LE(apart, gradient_slack) << name;
      worst = std::max(worst, apart);
      ++tensors;
    }
  });
  fmt::print("{} gradients, largest error of a norm: {:.1e}\n", tensors, worst);
}

TEST_F(LlamaAgainstPyTorch, FiftySteps) {
  double worst = 0;
  double moved = 0;
  for_each_case("exact", [&](const Answers& answers, const Ours& ours, const auto&) {
    if (!answers.has("steps.loss")) return;
    const auto model = ours.make();
    const std::vector<double> losses = ours.losses(*model);
    const std::vector<double> expected = answers.numbers("steps.loss");
    EXPECT_EQ(losses.size(), 50);
    EXPECT_LE(worst_of(losses, expected), steps_slack);
    EXPECT_LT(expected.back(), expected.front() - 0.01) << "nothing was learned";
    worst = std::max(worst, worst_of(losses, expected));
    const test::State after = test::copy_of(model->model_state());
    for (const std::string& name : answers.behind("after.")) {
      const std::vector<double> theirs = answers.numbers("after." + name);
      const double apart =
          test::norm_error(test::live(after.at(our_name(name)), theirs.size()), theirs);
      EXPECT_LE(apart, 1e-3) << name;
      moved = std::max(moved, apart);
    }
  });
  fmt::print("largest error of a loss: {:.1e}, of a weight's norm after the steps: {:.1e}\n", worst,
             moved);
}

// Ours rounds what products take, PyTorch's autocast what they give as well; both are away from
// double precision by bf16's noise, and ours is to be no further. The worst of 50 losses is one
// draw of that noise, where logits and gradients are thousands: it may be twice as far.
TEST_F(LlamaAgainstPyTorch, Bf16IsNoFurtherThanAutocast) {
  for_each_case("autocast", [&](const Answers& answers, const Ours& ours, const auto& said) {
    const Answers exact(string_or(said, "beside", ""));
    const std::vector<double> logits = exact.numbers("logits");
    const auto start = test::copy_of(ours.make()->model_state());
    const double got = test::norm_error(ours.logits(start), logits);
    const double own = test::norm_error(answers.numbers("logits"), logits);
    EXPECT_LE(got, own);
    EXPECT_GT(got, 1e-5) << "this is not bf16";

    double squares = 0;
    double own_squares = 0;
    const auto gradients = ours.gradients();
    for (const std::string& name : exact.behind("gradient.")) {
      const std::vector<double> expected = exact.numbers("gradient." + name);
      std::vector<double> mine = gradients.at(our_name(name));
      mine.resize(expected.size());
      squares += std::pow(test::norm_error(mine, expected), 2);
      own_squares += std::pow(test::norm_error(answers.numbers("gradient." + name), expected), 2);
    }
    EXPECT_LE(squares, own_squares);
    double loss = 0;
    double own_loss = 0;
    if (exact.has("steps.loss")) {
      const auto model = ours.make();
      loss = worst_of(ours.losses(*model), exact.numbers("steps.loss"));
      own_loss = worst_of(answers.numbers("steps.loss"), exact.numbers("steps.loss"));
      EXPECT_LE(loss, 2 * own_loss);
    }
    fmt::print(
        "{}: logits {:.1e} (autocast {:.1e}), gradients {:.1e} ({:.1e}), steps {:.1e} ({:.1e})\n",
        answers.name(), got, own, std::sqrt(squares), std::sqrt(own_squares), loss, own_loss);
  });
}

// Our answers are far from those of somebody who made a mistake: a hundred times what is tolerated.
TEST_F(LlamaAgainstPyTorch, EveryMistakeWouldShow) {
  constexpr double far = 100;
  std::size_t mistakes = 0;
  for_each_case("mistake", [&](const Answers& mistaken, const Ours& ours, const auto& said) {
    const std::string shows = string_or(said, "shows", "");
    ++mistakes;
    if (shows == "logits") {
      const auto start = test::copy_of(ours.make()->model_state());
      EXPECT_GT(test::largest_error(ours.logits(start), mistaken.numbers("logits")),
                far * logits_slack);
    } else if (shows == "loss") {
      EXPECT_GT(worst_of(loss_at_start(ours), mistaken.numbers("loss")), far * steps_slack);
    } else {
      ASSERT_EQ(shows, "steps");
      EXPECT_LE(worst_of(loss_at_start(ours), mistaken.numbers("loss")), steps_slack);
      const auto model = ours.make();
      EXPECT_GT(worst_of(ours.losses(*model), mistaken.numbers("steps.loss")), far * steps_slack);
    }
  });
  fmt::print("{} mistakes\n", mistakes);
}

}  // namespace
}  // namespace trainward::trainer
