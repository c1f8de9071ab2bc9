#include "supervisor/daemon/boards/smaller_mesh.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "supervisor/daemon/boards/mesh_links.hpp"

namespace trainward::daemon {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> names(const std::vector<config::Mesh>& meshes) {
  std::vector<std::string> all;
  for (const config::Mesh& mesh : meshes) all.push_back(name_of(mesh));
  return all;
}

TEST(SmallerMeshes, TheLargestThatCanShareAStepComesFirstAndOfEqualsOneWithARing) {
  EXPECT_THAT(names(smaller_meshes({2, 4}, {8, 1})), ElementsAre("2x2", "1x4", "1x2", "1x1"));
  EXPECT_THAT(names(smaller_meshes({2, 4}, {24, 1})),
              ElementsAre("2x3", "1x6", "2x2", "1x4", "1x3", "1x2", "1x1"));
  EXPECT_THAT(names(smaller_meshes({4, 8}, {32, 1})),
              ElementsAre("4x4", "2x8", "1x16", "2x4", "1x8", "2x2", "1x4", "1x2", "1x1"));
}

TEST(SmallerMeshes, WhatDoesNotDivideTheBatchMayDivideItsNumber) {
  EXPECT_THAT(names(smaller_meshes({2, 4}, {8, 6})),
              ElementsAre("2x3", "1x6", "2x2", "1x4", "1x3", "1x2", "1x1"));
}

TEST(SmallerMeshes, LieAsTheFullOneDoes) {
  EXPECT_THAT(names(smaller_meshes({4, 2}, {6, 1})),
              ElementsAre("3x2", "6x1", "3x1", "2x1", "1x1"));
}

TEST(SmallerMeshes, ColumnsThatDivideTheWeightsStayAsMany) {
  EXPECT_THAT(names(smaller_meshes({4, 8}, {32, 1, true})), ElementsAre("2x8", "1x8"));
  EXPECT_THAT(names(smaller_meshes({1, 8}, {32, 1, true})), IsEmpty());
}

TEST(SmallerMeshes, WhatTheyCost) {
  EXPECT_EQ(cost_of({2, 2}, {2, 4}), "a step takes about 2 times as long");
  EXPECT_EQ(cost_of({2, 3}, {2, 4}), "a step takes about 1.33 times as long");
}

// ---- links ----

core::KnownMesh mesh_of(std::int64_t links, bool proven = true) {
  core::KnownMesh mesh{"2x4", {}, links, proven};
  for (std::int64_t i = 0; i < links; ++i) {
    mesh.pairs.push_back(fmt::format("a/L:{} (QSFP 1) to b/L:{} (QSFP 1)", i, i));
  }
  return mesh;
}

TEST(LostLinks, AreNamedWithTheirConnectors) {
  const LostLinks lost = lost_links(mesh_of(20), mesh_of(19));
  EXPECT_EQ(lost.words,
            "its mesh of 2x4 has 19 of the 20 links that it had when it was first trained on; "
            "missing among a/L:19 (QSFP 1) to b/L:19 (QSFP 1)");
  EXPECT_FALSE(lost.too_many);
}

TEST(LostLinks, MoreThanATenthAreTooMany) {
  EXPECT_FALSE(lost_links(mesh_of(20), mesh_of(18)).too_many);
  EXPECT_TRUE(lost_links(mesh_of(20), mesh_of(17)).too_many);
  EXPECT_FALSE(lost_links(mesh_of(10), mesh_of(9)).too_many);
  EXPECT_TRUE(lost_links(mesh_of(9), mesh_of(8)).too_many);
}

TEST(LostLinks, ManyAreCounted) {
  EXPECT_THAT(lost_links(mesh_of(40), mesh_of(20)).words,
              AllOf(HasSubstr("a/L:27 "), Not(HasSubstr("a/L:28 ")), HasSubstr("and 12 more")));
}

TEST(LostLinks, AreThoseOfTheSameMeshThatHasTrained) {
  EXPECT_EQ(lost_links(mesh_of(20, false), mesh_of(10)).words, "");
  EXPECT_EQ(lost_links({}, mesh_of(10)).words, "");
  core::KnownMesh other = mesh_of(20);
  other.shape = "4x2";
  EXPECT_EQ(lost_links(other, mesh_of(10)).words, "");
  EXPECT_EQ(lost_links(mesh_of(10), mesh_of(10)).words, "");
}

TEST(LostBoards, AreThoseThatNoLookFinds) {
  EXPECT_EQ(lost_boards(mesh_of(2), {"a", "b", "c"}), "");
  EXPECT_EQ(lost_boards(mesh_of(2), {"a"}), "board b, which it had, is not found");
  EXPECT_EQ(lost_boards(mesh_of(2), {}), "boards a, b, which it had, are not found");
  EXPECT_EQ(lost_boards(mesh_of(2, false), {}), "");
}

}  // namespace
}  // namespace trainward::daemon
