// What is dropped: the right share, elsewhere each time, the same again for the same key.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "cpu/harness.hpp"
#include "model/tiny.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/model/layers.hpp"

namespace trainward::trainer {
namespace {

using graph::Builder;
using graph::Element;
using graph::Value;
using graph::test::Numbers;

// Which of rows * 2000 ones are left, scaled, when the first has the number `first`.
Numbers dropped(double rate, std::int32_t key0, std::int32_t key1, std::int64_t rows = 10,
                std::int32_t first = 0) {
  Builder b;
  const Value x = b.parameter("x", {Element::f32, {rows, 40, 50}});
  const Value key = b.parameter("key", {Element::i32, {3}});
  const graph::Graph graph = *b.finish(std::vector{dropout(b, x, key, rate)});
  const std::vector<Numbers> inputs{
      Numbers(static_cast<std::size_t>(rows) * 2000, 1.0),
      {static_cast<double>(key0), static_cast<double>(key1), static_cast<double>(first)}};
  const Numbers expected = graph::test::interpret(graph, inputs)[0];
  const Numbers got = cpu::test::numbers_of(cpu::test::execute(graph, 2, inputs)[0], Element::f32);
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_FLOAT_EQ(static_cast<float>(got[i]), static_cast<float>(expected[i]));
  return got;
}

TEST(Dropout, DropsItsShareAndKeepsTheMean) {
  for (const double rate : {0.1, 0.5, 0.9}) {
    std::set<Numbers> seen;
    for (const auto& [a, b] : {std::pair(0, 0), {0, 1}, {1, 0}, {-7, 123456789}}) {
      const Numbers left = dropped(rate, a, b);
      double kept = 0;
      for (const double y : left) {
        if (y != 0) {
          EXPECT_FLOAT_EQ(static_cast<float>(y), static_cast<float>(1 / (1 - rate)));
        }
        kept += y != 0 ? 1 : 0;
      }
      // Five standard deviations of a binomial.
      const auto n = static_cast<double>(left.size());
      EXPECT_NEAR(kept / n, 1 - rate, 5 * std::sqrt(rate * (1 - rate) / n));
      EXPECT_TRUE(seen.insert(left).second) << "two keys drop the same elements";
      EXPECT_EQ(dropped(rate, a, b), left);
    }
  }
}

// Two keys agree about as often as two coins do, and so do neighbours under one key.
TEST(Dropout, KeysAndNeighboursAreIndependent) {
  const Numbers first = dropped(0.5, 11, 22);
  for (const auto& [a, b] : {std::pair(11, 23), {12, 22}, {22, 11}}) {
    const Numbers other = dropped(0.5, a, b);
    double same = 0;
    for (std::size_t i = 0; i < first.size(); ++i) same += first[i] == other[i] ? 1 : 0;
    EXPECT_NEAR(same / 20000, 0.5, 0.018);
  }
  for (const std::size_t distance : {1U, 2U, 50U, 2000U}) {
    double same = 0;
    for (std::size_t i = distance; i < first.size(); ++i)
      same += first[i] == first[i - distance] ? 1 : 0;
    EXPECT_NEAR(same / static_cast<double>(first.size() - distance), 0.5, 0.02) << distance;
  }
}

TEST(Dropout, PartsDropWhatTheWholeDoes) {
  const Numbers whole = dropped(0.3, 5, 6);
  Numbers parts;
  for (const auto& [rows, first] : {std::pair(3, 0), {1, 3}, {6, 4}}) {
    const Numbers part = dropped(0.3, 5, 6, rows, first * 2000);
    parts.insert(parts.end(), part.begin(), part.end());
  }
  EXPECT_EQ(parts, whole);
}

// However the sequences of a step are cut into batches.
TEST(Dropout, AccumulationDropsTheSame) {
  TrainingSpec spec = test::tiny_spec();
  spec.dropout = 0.2;
  spec.batch_size = 6;
  const auto at_once = test::make(spec);
  const StepResult expected = test::train(*at_once, spec, 1, 4);
  spec.batch_size = 2;
  spec.accumulation = 3;
  const auto in_parts = test::make(spec);
  EXPECT_NEAR(test::train(*in_parts, spec, 1, 4).loss, expected.loss, 1e-5);
}

TEST(Dropout, AResumedRunDropsTheSame) {
  TrainingSpec spec = test::tiny_spec();
  spec.dropout = 0.2;
  spec.accumulation = 2;
  const auto straight = test::make(spec);
  test::train(*straight, spec, 1, 6);
  const auto before = test::make(spec);
  test::train(*before, spec, 1, 3);
  const auto after = test::make(spec);
  ASSERT_TRUE(after->restore(test::fill_from(before->model_state(), before->optimizer_state()), 3));
  test::train(*after, spec, 4, 6);
  EXPECT_TRUE(
      test::same_bits(test::copy_of(straight->model_state()), test::copy_of(after->model_state())));
}

}  // namespace
}  // namespace trainward::trainer
