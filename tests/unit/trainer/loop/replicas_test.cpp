#include "trainer/loop/replicas.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/os/clock.hpp"
#include "fake_trainable.hpp"
#include "temporary_folder.hpp"

namespace trainward::trainer {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Sums = std::vector<std::uint64_t>;

TEST(OutsideMajority, IsWhoMoreThanHalfContradict) {
  EXPECT_THAT(*outside_majority({7, 7, 7}), IsEmpty());
  EXPECT_THAT(*outside_majority({7, 9, 7}), ElementsAre(1));
  EXPECT_THAT(*outside_majority({1, 7, 7, 7, 2}), ElementsAre(0, 4));
  EXPECT_FALSE(outside_majority({7, 9}));
  EXPECT_FALSE(outside_majority({1, 1, 2, 2}));
  EXPECT_FALSE(outside_majority({1, 2, 3}));
}

class ReplicasTest : public testing::Test {
 protected:
  // Steps up to `end`, as an attempt that begins at `from`; its error, or nothing.
  std::string attempt(std::int64_t from, std::int64_t end, std::int64_t every = 1) {
    FakeTrainable model(record_);
    const auto fill = [](const auto&, const auto&) -> Status { return {}; };
    EXPECT_TRUE(model.restore(fill, from));
    Reporter reporter(
        {[this](const Message& message) { said_ += find(message, "CORRUPTION").value_or(""); },
         [](std::string_view) {}, [](std::string_view) {}, [] { return now(); }});
    Replicas replicas({scratch_.path(), names_, every, from}, model, reporter);
    for (std::int64_t step = from + 1; step <= end; ++step) {
      EXPECT_TRUE(model.step({}));
      if (auto ok = replicas.after_step(step, milliseconds(1)); !ok) {
        EXPECT_EQ(ok.error().kind, ErrorKind::transient);
        return ok.error().message();
      }
    }
    return "";
  }

  [[nodiscard]] bool dispute_kept() const {
    return std::filesystem::exists(scratch_.path() / "replicas-differ.json");
  }

  TemporaryFolder scratch_;
  FakeRecord record_;
  std::string said_;
  std::vector<std::string> names_{"device 0 (a/L)", "device 1 (a/R)", "device 2 (b/L)"};
};

TEST_F(ReplicasTest, WhoIsOutsideTheMajorityIsNamed) {
  record_.checksums[6] = {5, 4, 5};
  EXPECT_THAT(attempt(0, 10, 3),
              AllOf(HasSubstr("silent corruption: the parameters on device 1 (a/R) are not those "
                              "of the other 2 after step 6"),
                    HasSubstr("alike after step 3")));
  EXPECT_FALSE(dispute_kept()) << "there is nothing to be repeated";
}

TEST_F(ReplicasTest, OfTwoTheOneIsNamedThatARepetitionContradicts) {
  record_.checksums[6] = {5, 4};
  EXPECT_THAT(attempt(0, 10), HasSubstr("device 0 (a/L), device 1 (a/R) differ after step 6"));
  ASSERT_TRUE(dispute_kept());
  record_.checksums[6] = {4, 4};
  EXPECT_EQ(attempt(3, 10, 100), "") << "it looks at step 6 whenever else it looks";
  EXPECT_EQ(said_,
            "device 0 (a/L) was wrong at step 6: repeated, the steps since 5 give what the others "
            "had; take the board out if it is named again");
  EXPECT_FALSE(dispute_kept());
}

TEST_F(ReplicasTest, WhatCannotBeJudgedIsSaidOnce) {
  record_.checksums[6] = {5, 4};
  EXPECT_NE(attempt(0, 10), "");
  record_.checksums[6] = {3, 3};
  EXPECT_EQ(attempt(0, 10), "");
  EXPECT_THAT(said_, HasSubstr("stays open"));
  EXPECT_FALSE(dispute_kept());
}

TEST_F(ReplicasTest, ADamagedFileOfChecksumsIsSaidOnceAndIsGone) {
  for (const char* text : {"{", "{}", R"({"step":6,"names":[],"checksums":["x"]})"}) {
    std::ofstream(scratch_.path() / "replicas-differ.json") << text;
    said_.clear();
    EXPECT_EQ(attempt(0, 10), "");
    EXPECT_EQ(said_, "which device was wrong stays open: replicas-differ.json: is damaged") << text;
    EXPECT_FALSE(dispute_kept());
  }
}

TEST_F(ReplicasTest, OtherDevicesAreNotBlamed) {
  record_.checksums[6] = {5, 4};
  EXPECT_NE(attempt(0, 10), "");
  names_[0] = "device 0 (c/L)";
  record_.checksums[6] = {4, 4};
  EXPECT_EQ(attempt(0, 10), "");
  EXPECT_THAT(said_, HasSubstr("stays open: step 6 was repeated after silent corruption on other "
                               "devices"));
}

TEST_F(ReplicasTest, ALossThatIsNoNumberMayBeAFlippedBit) {
  FakeTrainable model(record_);
  Reporter reporter({[](const Message&) {}, [](std::string_view) {}, [](std::string_view) {},
                     [] { return now(); }});
  Replicas replicas({scratch_.path(), names_, 1000, 0}, model, reporter);
  EXPECT_TRUE(model.step({}));
  EXPECT_TRUE(replicas.after_lost_step(1)) << "all are alike: it is the data or the rate";
  EXPECT_TRUE(model.step({}));
  record_.checksums[2] = {1, 2, 1};
  const auto differ = replicas.after_lost_step(2);
  ASSERT_FALSE(differ);
  EXPECT_THAT(differ.error().message(), HasSubstr("device 1 (a/R)"));
}

TEST_F(ReplicasTest, ADisputeThatIsNotRepeatedIsForgotten) {
  record_.checksums[6] = {5, 4};
  EXPECT_NE(attempt(0, 10), "");
  record_.checksums.clear();
  EXPECT_EQ(attempt(8, 10), "");
  EXPECT_EQ(said_, "");
  EXPECT_FALSE(dispute_kept());
}

TEST_F(ReplicasTest, ADamagedRecordIsNoRecord) {
  for (const char* text : {"", "{", "[]", R"({"step": 6})", R"({"step": 6, "checksums": [1]})",
                           R"({"step": 6, "since": 1, "checksums": ["xyz"]})"}) {
    std::ofstream(scratch_.path() / "replicas-differ.json") << text;
    EXPECT_EQ(attempt(0, 10), "") << text;
  }
}

TEST_F(ReplicasTest, BeforeASaveTheyAreAlwaysCompared) {
  FakeTrainable model(record_);
  Reporter reporter({[](const Message&) {}, [](std::string_view) {}, [](std::string_view) {},
                     [] { return now(); }});
  Replicas replicas({scratch_.path(), {}, 1000, 0}, model, reporter);
  EXPECT_TRUE(model.step({}));
  EXPECT_TRUE(replicas.after_step(1, milliseconds(1)));
  EXPECT_TRUE(replicas.before_save(1));
  record_.checksums[2] = {1, 2, 1};
  EXPECT_TRUE(model.step({}));
  EXPECT_TRUE(replicas.after_step(2, milliseconds(1)));
  const auto refused = replicas.before_save(2);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("number 1"));
}

}  // namespace
}  // namespace trainward::trainer
