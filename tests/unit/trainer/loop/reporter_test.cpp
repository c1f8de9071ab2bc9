// What the worker says of how its model does.
#include "trainer/loop/reporting/reporter.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::trainer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ReporterTest : public testing::Test {
 protected:
  Reporter reporter(bool alone) {
    return Reporter({[this](const Message& message) { told_.push_back(message); },
                     [this](std::string_view text) { out_ += text; }, [](std::string_view) {},
                     [] { return Time{}; }, alone});
  }
  [[nodiscard]] std::string said(std::string_view key) const {
    return std::string(find(told_.back(), key).value_or("-"));
  }

  std::vector<Message> told_;
  std::string out_;
};

TEST_F(ReporterTest, AnEvaluationHasAPerplexityWhereThatSaysMore) {
  reporter(true).evaluated(40, 2.5);
  EXPECT_EQ(said("EVALUATED_STEP"), "40");
  EXPECT_EQ(said("EVALUATION_LOSS"), "2.5");
  EXPECT_EQ(said("EVALUATION_PERPLEXITY"), "12.1825");
  EXPECT_THAT(out_, HasSubstr("step 40 held-out loss 2.5000, perplexity 12.18\n"));
  for (const double loss : {14.0, 1e30, std::numeric_limits<double>::quiet_NaN()}) {
    reporter(true).evaluated(41, loss);
    EXPECT_EQ(said("EVALUATION_PERPLEXITY"), "-") << loss;
  }
}

TEST_F(ReporterTest, ASampleIsToldAndPrintedOnlyWhereNobodyWatchesTheLogs) {
  const WorkerSample sample{500, "p", "RuntimeError:\nout of memory\x1b", 4, "length"};
  reporter(false).sampled(sample);
  ASSERT_THAT(told_, SizeIs(1));
  EXPECT_EQ(told_sample(told_.back())->answer, sample.answer);
  EXPECT_THAT(out_, IsEmpty());
  reporter(true).sampled(sample);
  EXPECT_THAT(out_, HasSubstr("step 500 > p\n"));
  EXPECT_THAT(out_, HasSubstr("step 500   RuntimeError: out of memory?\n"));
}

}  // namespace
}  // namespace trainward::trainer
