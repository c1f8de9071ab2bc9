// AGILLM-3's losses as they were when they were first recorded. Other ones for the same seed, data
// and settings would mean that what its runs compute has changed.
//
// Not bit for bit: the instructions that a processor has, and the library that multiplies with
// them, decide where is rounded.
#include <gtest/gtest.h>

#include <array>

#include "model/tiny.hpp"

namespace trainward::trainer {
namespace {

struct Golden {
  const char* name;
  void (*apply)(TrainingSpec&);
  std::array<double, 4> losses;  // of steps 1 to 4
  double norm;                   // of the last
};
void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.name; }

const std::array<Golden, 4> recorded{{
    {"Plain",
     [](TrainingSpec&) {},
     {3.6340672969818115, 3.7676780223846436, 3.5392806529998779, 3.6826918125152588},
     1.1854610430843562},
    {"TiedAndDropping",
     [](TrainingSpec& spec) {
       spec.model.tied = true;
       spec.dropout = 0.2;
       spec.accumulation = 2;
     },
     {13.296043395996094, 14.916573524475098, 14.22907543182373, 11.76283073425293},
     6.881235511450134},
    {"OfRatesOfTheirOwn",
     [](TrainingSpec& spec) {
       spec.learning_rate = 1e-3;
       spec.head_learning_rate = 1e-2;
       spec.label_smoothing = 0.1;
       spec.recompute = true;
       spec.gradient_clip = 0.5;
       spec.schedule = {optim::Schedule::Shape::cosine, 2, 6, 0.1, 0, true};
     },
     {3.6389784812927246, 3.7452521324157715, 3.5650801658630371, 3.6755392551422119},
     1.0652495715386083},
    {"OfAWideRank",
     [](TrainingSpec& spec) {
       spec.model.rank = 20;
       spec.seed = 99;
     },
     {3.6993708610534668, 3.5945830345153809, 3.4830753803253174, 3.5162549018859863},
     1.1878628092885868},
}};

class GoldenLosses : public ::testing::TestWithParam<Golden> {};

TEST_P(GoldenLosses, AreWhatTheyAlwaysWere) {
  constexpr double rounding = 2e-6;
  TrainingSpec spec = test::tiny_spec();
  GetParam().apply(spec);
  const auto model = test::make(spec);
  StepResult result;
  for (std::size_t i = 0; i < GetParam().losses.size(); ++i) {
    result = test::train(*model, spec, i + 1, i + 1);
    EXPECT_NEAR(result.loss, GetParam().losses[i], rounding * result.loss)
        << fmt::format("step {}: {:.17g}", i + 1, result.loss);
  }
  EXPECT_NEAR(result.grad_norm, GetParam().norm, 20 * rounding * result.grad_norm)
      << fmt::format("{:.17g}", result.grad_norm);
}
INSTANTIATE_TEST_SUITE_P(, GoldenLosses, ::testing::ValuesIn(recorded),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace trainward::trainer
