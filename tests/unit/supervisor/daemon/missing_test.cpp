// Checkpoints that verified, and what may have become of them.
#include "supervisor/daemon/checkpoints/missing.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "temporary_folder.hpp"

namespace trainward::daemon {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Optional;

class Missing : public testing::Test {
 protected:
  Missing() {
    fs::create_directories(share_);
    save(40);
    kept_ = {share_ / "40", folder_of(share_ / "40"), 40};
  }
  static std::optional<std::string> why(const Kept& kept, const checkpoint::Selection& selection) {
    auto gone = missing(kept, selection);
    return gone ? std::optional(gone->why) : std::nullopt;
  }
  void save(int step) const { std::ofstream(share_ / std::to_string(step)) << step; }
  [[nodiscard]] checkpoint::Selection chosen(int step) const {
    checkpoint::Selection out;
    out.chosen.emplace();
    out.chosen->path = share_ / std::to_string(step);
    out.chosen->step = step;
    return out;
  }

  TemporaryFolder folder_;
  fs::path share_ = folder_.path() / "nas" / "run";
  Kept kept_;
  checkpoint::Selection none_;
};

TEST_F(Missing, NothingIsMissingWhereItIs) {
  EXPECT_EQ(why(kept_, chosen(40)), std::nullopt);
  EXPECT_EQ(why(kept_, none_), std::nullopt) << "it is there, whatever is wrong with it";
  EXPECT_EQ(why({}, none_), std::nullopt) << "nothing was ever kept";
}

TEST_F(Missing, AFolderThatIsAwayOrAnotherOneIsWaitedFor) {
  fs::rename(folder_.path() / "nas", folder_.path() / "away");
  EXPECT_THAT(why(kept_, none_), Optional(HasSubstr("is not there now")));
  kept_.told = false;
  EXPECT_THAT(why(kept_, none_), Optional(HasSubstr("is not there now")));
  fs::create_directories(share_);
  EXPECT_THAT(why(kept_, none_), Optional(HasSubstr("another folder")));
  save(10);
  EXPECT_THAT(why(kept_, chosen(10)), Optional(HasSubstr("another folder")))
      << "what lies beneath a mount point is no reason to do 30 steps again";
  fs::remove_all(folder_.path() / "nas");
  fs::rename(folder_.path() / "away", folder_.path() / "nas");
  EXPECT_EQ(why(kept_, chosen(40)), std::nullopt);
}

// A share has another device number each time that it is mounted.
// Saved in the last seconds before its share went away.
TEST_F(Missing, OfWhatHasNotVerifiedOnlyTheFolderIsMissed) {
  Kept seen;
  seen.path = share_ / "40";
  seen.verified = false;
  EXPECT_EQ(why(seen, none_), std::nullopt);
  fs::remove(share_ / "40");
  EXPECT_EQ(why(seen, none_), std::nullopt) << "its program may have removed it";
  fs::rename(folder_.path() / "nas", folder_.path() / "away");
  EXPECT_THAT(why(seen, none_), Optional(HasSubstr("a checkpoint was saved in")));
}

TEST_F(Missing, AFolderOfAnotherNumberThatHoldsItIsTheOne) {
  kept_.folder = "1:1";
  EXPECT_EQ(why(kept_, chosen(40)), std::nullopt);
}

TEST_F(Missing, InTheSameFolderAnOlderOneWillDoAndNoneWillNot) {
  fs::remove(share_ / "40");
  save(30);
  EXPECT_EQ(why(kept_, chosen(30)), std::nullopt);
  fs::remove(share_ / "30");
  EXPECT_THAT(why(kept_, none_), Optional(HasSubstr("no checkpoint is left there")));
  kept_.told = false;
  EXPECT_EQ(why(kept_, none_), std::nullopt) << "whoever finds its own place may tidy up";
}

TEST_F(Missing, WhatWasSetAsideIsNotMissing) {
  fs::rename(share_ / "40", share_ / "40.corrupt-1");
  none_.rejected.push_back({share_ / "40.corrupt-1", "damaged", share_ / "40", 40});
  EXPECT_EQ(why(kept_, none_), std::nullopt);
}

}  // namespace
}  // namespace trainward::daemon
