// Views: which reshapes need no copy, and which axes merge.
#include "trainer/cpu/runtime/view.hpp"

#include <gtest/gtest.h>

namespace trainward::cpu {
namespace {

const Value root{0};

TEST(View, ReshapeCutsAndMergesDenseAxes) {
  const auto view = reshape(whole(root, {2, 6, 4}), {12, 2, 2});
  ASSERT_TRUE(view);
  EXPECT_EQ(view->strides, (Shape{4, 2, 1}));
}

TEST(View, ReshapeOfATransposeWorksOnlyWithinAxes) {
  const View turned = transpose(whole(root, {6, 4}), {1, 0});
  EXPECT_FALSE(reshape(turned, {24}));
  const auto split = reshape(turned, {2, 2, 3, 2});
  ASSERT_TRUE(split);
  EXPECT_EQ(split->strides, (Shape{2, 1, 8, 4}));
}

TEST(View, ReshapeCopesWithAxesOfOne) {
  const auto view = reshape(whole(root, {1, 5, 1}), {5, 1, 1});
  ASSERT_TRUE(view);
  EXPECT_EQ(view->strides[0], 1);
  EXPECT_TRUE(reshape(whole(root, {}), {1, 1}));
}

TEST(View, SliceMovesTheOffset) {
  const View view = slice(whole(root, {4, 5}), {1, 2}, {3, 5});
  EXPECT_EQ(view.offset, 7);
  EXPECT_EQ(view.shape, (Shape{2, 3}));
  EXPECT_FALSE(is_contiguous(view));
}

TEST(View, MergeAxesNeedsOneStride) {
  const View view = whole(root, {2, 3, 4});
  EXPECT_EQ(merge_axes(view, {0, 1})->stride, 4);
  EXPECT_EQ(merge_axes(view, {0, 1})->size, 6);
  EXPECT_FALSE(merge_axes(view, {0, 2}));
  EXPECT_EQ(merge_axes(view, {})->size, 1);
}

TEST(View, BroadcastRepeatsWithStrideZero) {
  const View view = broadcast(whole(root, {3}), {1}, {2, 3, 5});
  EXPECT_EQ(view.strides, (Shape{0, 1, 0}));
}

}  // namespace
}  // namespace trainward::cpu
