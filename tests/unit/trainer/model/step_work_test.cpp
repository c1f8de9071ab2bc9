// What the roofline benchmark holds a step against, counted by hand.
#include "step_work.hpp"

#include <gtest/gtest.h>

#include "mlp.hpp"
#include "trainer/graph/builder.hpp"

namespace trainward::roofline {
namespace {

using graph::Builder;
using graph::Element;
using graph::Value;

TEST(StepWork, OfTheMlpIsItsFiveProductsAndItsBuffers) {
  const trainer::MlpSpec spec{8, 16, 32, 4};
  const StepWork step = work_of_whole(trainer::make_mlp(spec).value(), trainer::Sgd{});
  ASSERT_EQ(step.segments.size(), 1U);
  // Forward two, weights two, and the gradient of what the first layer gives.
  EXPECT_EQ(step.flops(), 2.0 * 8 * (16 * 32 + 32 * 4 + 16 * 32 + 32 * 4 + 32 * 4));
  const double parameters = 16 * 32 + 32 + 32 * 4 + 4;
  const double rows = 8 * 16 + 8 * 4;
  EXPECT_EQ(step.segments[0].work.bytes, 4 * (rows + 2 * parameters + 1));
}

TEST(StepWork, OfATableCountsTheRowsThatAreLookedUp) {
  Builder b;
  const Value table = b.parameter("table", {Element::f32, {1000, 8}});
  const Value ids = b.parameter("ids", {Element::i32, {5}});
  (void)b.parameter("unused", {Element::f32, {77}});
  const Value rows = b.gather_rows(table, ids);
  EXPECT_EQ(work_of(b.finish(std::vector{rows}).value()).bytes, 4 * (5 + 5 * 8 + 5 * 8));
  // Read as a whole elsewhere: as a whole.
  const Value sum = b.sum(table, {0, 1});
  EXPECT_EQ(work_of(b.finish(std::vector{rows, sum}).value()).bytes,
            4 * (5 + 1000 * 8 + 5 * 8 + 1));
}

TEST(StepWork, WhatNoOutputNeedsIsNotCounted) {
  Builder b;
  const Value x = b.parameter("x", {Element::f32, {4, 4}});
  const Value y = b.dot(x, x, {{}, {}, {1}, {1}});
  (void)b.dot(y, y, {{}, {}, {1}, {1}});
  EXPECT_EQ(work_of(b.finish(std::vector{y}).value()).flops, 2 * 4 * 4 * 4);
}

TEST(StepWork, AccumulationRepeatsTheSegmentsAndNotTheUpdate) {
  trainer::TrainingSpec spec;
  spec.model = {16, 2, 1, 16, 257};
  spec.batch_size = 2;
  spec.block_size = 8;
  const StepWork once = work_of_segments(spec).value();
  spec.accumulation = 3;
  const StepWork thrice = work_of_segments(spec).value();
  EXPECT_EQ(thrice.flops(), 3 * once.flops());
  EXPECT_EQ(thrice.update_bytes, once.update_bytes);
  EXPECT_EQ(thrice.bytes() - thrice.update_bytes, 3 * (once.bytes() - once.update_bytes));
  // More rows in the table cost the lookup nothing.
  spec.model.vocabulary = 2570;
  EXPECT_EQ(work_of_segments(spec).value().segments[0].work.bytes, thrice.segments[0].work.bytes);
}

TEST(StepWork, TheBoundAddsWhatFollowsAndTakesTheLongerOfWhatOverlaps) {
  StepWork step;
  step.segments = {{{100, 10}, 2}, {{10, 100}, 1}};
  step.update_bytes = 50;
  EXPECT_EQ(step.flops(), 210);
  EXPECT_EQ(step.bytes(), 170);
  const Machine machine{10, 10};
  EXPECT_EQ(least_seconds(step, machine, false), 2 * 10 + 10 + 5);
  EXPECT_EQ(least_seconds(step, machine, true), 2 * 10 + 1);
}

}  // namespace
}  // namespace trainward::roofline
