#include "trainer/mesh/ring_order.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <set>

namespace trainward::mesh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

bool linked(const Mesh& mesh, std::int64_t a, std::int64_t b) {
  const std::int64_t down = std::abs(a / mesh.columns - b / mesh.columns);
  const std::int64_t across = std::abs(a % mesh.columns - b % mesh.columns);
  return down + across == 1;
}

TEST(RingOrder, OfTwoRowsIsThePerimeter) {
  EXPECT_THAT(ring_order({2, 4}), ElementsAre(0, 1, 2, 3, 7, 6, 5, 4));
  EXPECT_THAT(ring_order({4, 2}), ElementsAre(0, 1, 3, 5, 7, 6, 4, 2));
  EXPECT_THAT(ring_order({2, 2}), ElementsAre(0, 1, 3, 2));
}

TEST(RingOrder, ThereIsNoneInARowOrWithBothSidesOdd) {
  for (const Mesh& mesh :
       {Mesh{1, 1}, Mesh{1, 2}, Mesh{1, 8}, Mesh{8, 1}, Mesh{3, 3}, Mesh{5, 7}}) {
    EXPECT_FALSE(has_ring(mesh)) << mesh.rows << " x " << mesh.columns;
    EXPECT_THAT(ring_order(mesh), IsEmpty()) << mesh.rows << " x " << mesh.columns;
  }
}

// Every mesh of up to 12 x 12: each chip once, each hop over a link, and the last one closes it.
TEST(RingOrder, PassesEveryChipOnceOverLinksAndCloses) {
  for (std::int64_t rows = 1; rows <= 12; ++rows) {
    for (std::int64_t columns = 1; columns <= 12; ++columns) {
      const Mesh mesh{rows, columns};
      const auto order = ring_order(mesh);
      SCOPED_TRACE(testing::Message() << rows << " x " << columns);
      ASSERT_EQ(order.empty(), !has_ring(mesh));
      if (order.empty()) continue;
      ASSERT_EQ(static_cast<std::int64_t>(order.size()), mesh.devices());
      EXPECT_EQ(order.front(), 0);
      const std::set<std::int64_t> distinct(order.begin(), order.end());
      EXPECT_EQ(distinct.size(), order.size());
      EXPECT_EQ(*distinct.begin(), 0);
      EXPECT_EQ(*distinct.rbegin(), mesh.devices() - 1);
      for (std::size_t i = 0; i < order.size(); ++i) {
        EXPECT_TRUE(linked(mesh, order[i], order[(i + 1) % order.size()])) << order[i];
      }
    }
  }
}

}  // namespace
}  // namespace trainward::mesh
