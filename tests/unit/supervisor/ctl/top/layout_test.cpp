#include "supervisor/ctl/top/layout.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace trainward::ctl::top {
namespace {

constexpr std::array<bool, panes> all{true, true, true, true, true, true};

std::vector<Rect> rects_of(const Layout& layout) {
  std::vector<Rect> rects{layout.header, layout.footer};
  rects.insert(rects.end(), layout.pane.begin(), layout.pane.end());
  std::erase_if(rects, [](const Rect& rect) { return rect.empty(); });
  return rects;
}

TEST(Layout, NothingOverlapsAndNothingIsOutside) {
  for (int width = 0; width <= 200; width += 7) {
    for (int height = 0; height <= 60; ++height) {
      for (const int programs : {1, 3, 40}) {
        const Layout layout = lay_out({width, height}, all, {programs, 3, 4});
        std::vector<int> cells(static_cast<std::size_t>(width * height));
        for (const Rect& rect : rects_of(layout)) {
          ASSERT_GE(rect.x, 0);
          ASSERT_GE(rect.y, 0);
          ASSERT_LE(rect.x + rect.width, width);
          ASSERT_LE(rect.y + rect.height, height);
          for (int y = rect.y; y < rect.y + rect.height; ++y) {
            for (int x = rect.x; x < rect.x + rect.width; ++x) {
              ASSERT_EQ(cells[static_cast<std::size_t>(y * width + x)]++, 0)
                  << width << " by " << height << " at " << x << ", " << y;
            }
          }
        }
        if (width > 0 && height > 0) {
          ASSERT_FALSE(layout.of(Pane::programs).empty());
        }
      }
    }
  }
}

TEST(Layout, ATallerScreenTakesNoRowFromAnybody) {
  for (const int width : {80, 140}) {
    for (int height = 24; height < 70; ++height) {
      const Layout lower = lay_out({width, height}, all, {2, 3, 2});
      const Layout taller = lay_out({width, height + 1}, all, {2, 3, 2});
      for (std::size_t i = 0; i < panes; ++i) {
        EXPECT_GE(taller.pane.at(i).height, lower.pane.at(i).height) << height << ", pane " << i;
      }
    }
  }
}

TEST(Layout, OnTheUsualTerminalEverythingHasItsPlace) {
  const Layout layout = lay_out({80, 24}, all, {3, 3, 2});
  for (std::size_t i = 0; i < panes; ++i) EXPECT_FALSE(layout.pane.at(i).empty()) << i;
  EXPECT_GE(layout.of(Pane::curve).height, 6);
}

TEST(Layout, WhatIsPutAwayLeavesItsRoomToTheOthers) {
  auto some = all;
  some.at(static_cast<std::size_t>(Pane::log)) = false;
  const Layout with = lay_out({80, 24}, all, {2, 3, 2});
  const Layout without = lay_out({80, 24}, some, {2, 3, 2});
  EXPECT_TRUE(without.of(Pane::log).empty());
  EXPECT_GT(without.of(Pane::curve).height, with.of(Pane::curve).height);
}

}  // namespace
}  // namespace trainward::ctl::top
