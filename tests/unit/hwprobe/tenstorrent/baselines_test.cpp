#include "hwprobe/tenstorrent/decode/baselines.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "fake_host.hpp"

namespace trainward::hwprobe {
namespace {

using testing::HasSubstr;

class BaselinesTest : public FakeHost {};

TEST_F(BaselinesTest, TheFirstLookIsTheBaseline) {
  Baselines baselines("boot");
  EXPECT_EQ(baselines.growth("chip", 8, {1000, 5, 7}), LinkGrowth());
  EXPECT_EQ(baselines.growth("chip", 8, {1001, 5, 9}), (LinkGrowth{1, 0, 2}));
  EXPECT_EQ(baselines.growth("chip", 8, {1003, 6, 9}), (LinkGrowth{3, 1, 2}));
  EXPECT_EQ(baselines.growth("chip", 9, {500, 0, 0}), LinkGrowth());
  EXPECT_EQ(baselines.growth("other", 8, {2, 0, 0}), LinkGrowth());
}

TEST_F(BaselinesTest, ACounterThatWentBackStartsAgain) {
  Baselines baselines("boot");
  baselines.growth("chip", 8, {1000, 5, 7});
  EXPECT_EQ(baselines.growth("chip", 8, {3, 9, 7}), (LinkGrowth{0, 4, 0}));
  EXPECT_EQ(baselines.growth("chip", 8, {4, 9, 7}), (LinkGrowth{1, 4, 0}));
}

TEST_F(BaselinesTest, WhatCouldNotBeReadDoesNotCount) {
  Baselines baselines("boot");
  EXPECT_EQ(baselines.growth("chip", 8, {}), LinkGrowth());
  EXPECT_EQ(baselines.growth("chip", 8, {900, {}, {}}), LinkGrowth());
  EXPECT_EQ(baselines.growth("chip", 8, {{}, 4, {}}), LinkGrowth());
  EXPECT_EQ(baselines.growth("chip", 8, {901, 4, {}}), (LinkGrowth{1, 0, 0}));
}

TEST_F(BaselinesTest, GrowthFitsItsType) {
  Baselines baselines("boot");
  const auto most = std::numeric_limits<std::uint64_t>::max();
  baselines.growth("chip", 8, {0, 0, 0});
  EXPECT_EQ(baselines.growth("chip", 8, {0, 0, most}).uncorrected,
            std::numeric_limits<std::int64_t>::max());
}

TEST_F(BaselinesTest, OutliveTheProcessButNotTheBoot) {
  const auto file = folder_ / "baselines.json";
  Baselines baselines = Baselines::load(file, "boot");
  EXPECT_FALSE(baselines.changed());
  const auto most = std::numeric_limits<std::uint64_t>::max();
  baselines.growth("a \"chip\"", 8, {1000, {}, most - 1});
  EXPECT_TRUE(baselines.changed());
  ASSERT_TRUE(baselines.save(file));

  Baselines again = Baselines::load(file, "boot");
  EXPECT_EQ(again.note(), "");
  EXPECT_FALSE(again.changed());
  EXPECT_EQ(again.growth("a \"chip\"", 8, {1002, 3, most}), (LinkGrowth{2, 0, 1}));
  EXPECT_TRUE(again.changed());

  Baselines next = Baselines::load(file, "next boot");
  EXPECT_EQ(next.note(), "");
  EXPECT_EQ(next.growth("a \"chip\"", 8, {2000, 3, 0}), LinkGrowth());
}

TEST_F(BaselinesTest, ADamagedFileIsAFreshStart) {
  for (const char* text :
       {"", "{", "[]", "{\"boot_id\": 5}", R"({"boot_id": "boot"})",
        R"({"boot_id": "boot", "links": [5]})", R"({"boot_id": "boot", "links": [{"chip": "a"}]})",
        R"({"boot_id": "boot", "links": [{"chip": "a", "channel": 16}]})",
        R"({"boot_id": "boot", "links": [{"chip": "a", "channel": -1}]})"}) {
    const auto file = write("baselines.json", text);
    Baselines baselines = Baselines::load(file, "boot");
    EXPECT_THAT(baselines.note(), HasSubstr("baselines")) << text;
    EXPECT_EQ(baselines.growth("a", 8, {7, 7, 7}), LinkGrowth());
    EXPECT_TRUE(baselines.save(file)) << text;
    EXPECT_EQ(Baselines::load(file, "boot").note(), "");
  }
  // Counters of another type are only those counters' loss.
  const auto file = write("baselines.json",
                          R"({"boot_id": "boot", "links": [{"chip": "a", "channel": 8,
                              "retrains": -4, "crc_errors": "x", "uncorrected": 5}]})");
  Baselines baselines = Baselines::load(file, "boot");
  EXPECT_EQ(baselines.note(), "");
  EXPECT_EQ(baselines.growth("a", 8, {7, 7, 7}), (LinkGrowth{0, 0, 2}));
}

TEST_F(BaselinesTest, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_FALSE(Baselines("boot").save(folder_ / "no folder" / "baselines.json"));
}

}  // namespace
}  // namespace trainward::hwprobe
