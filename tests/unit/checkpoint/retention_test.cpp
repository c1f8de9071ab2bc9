// Choosing, setting aside, keeping and cleaning up.
#include "checkpoint/retention.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/os/fd.hpp"
#include "support.hpp"

namespace trainward::checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::flip;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Medium;
using testing::names_in;
using testing::read_bytes;
using testing::Sample;
using testing::ScratchFolder;
using testing::write_bytes;

class Retention : public ::testing::Test {
 protected:
  fs::path add(std::int64_t step) {
    auto folder = save(root_, Sample(step).contents());
    EXPECT_TRUE(folder) << folder.error().message();
    return *folder;
  }
  std::int64_t chosen_step(std::int64_t max_step = INT64_MAX) {
    auto selection = select(root_, max_step);
    EXPECT_TRUE(selection) << selection.error().message();
    return selection->chosen ? selection->chosen->step : -1;
  }
  ScratchFolder scratch_{Medium::memory};
  fs::path root_ = scratch_.path();
};

TEST_F(Retention, NothingToChooseFromIsNoError) {
  EXPECT_EQ(chosen_step(), -1);
  root_ /= "missing";
  EXPECT_EQ(chosen_step(), -1);
  EXPECT_FALSE(fs::exists(root_));
}

TEST_F(Retention, ChoosesTheNewestUpToALimit) {
  for (const std::int64_t step : {10, 20, 30}) add(step);
  EXPECT_EQ(chosen_step(), 30);
  EXPECT_EQ(chosen_step(29), 20);
  EXPECT_EQ(chosen_step(10), 10);
  EXPECT_EQ(chosen_step(9), -1);
}

TEST_F(Retention, FallsBackOverDamagedOnesAndSetsThemAside) {
  for (const std::int64_t step : {10, 20, 30, 40}) add(step);
  flip(root_ / "step-00000040/model.safetensors", 4200, 64);
  fs::remove(root_ / "step-00000030/state.json");
  auto selection = select(root_);
  ASSERT_TRUE(selection) << selection.error().message();
  ASSERT_TRUE(selection->chosen);
  EXPECT_EQ(selection->chosen->step, 20);
  EXPECT_EQ(selection->chosen->path, root_ / "step-00000020");
  ASSERT_EQ(selection->rejected.size(), 2U);
  EXPECT_EQ(selection->rejected[0].path, root_ / ".corrupt-step-00000040");
  EXPECT_THAT(selection->rejected[0].reason, HasSubstr("model.safetensors: is damaged"));
  EXPECT_EQ(selection->rejected[1].path, root_ / ".corrupt-step-00000030");
  EXPECT_THAT(names_in(root_), ElementsAre(".corrupt-step-00000030", ".corrupt-step-00000040",
                                           "latest", "step-00000010", "step-00000020"));
  EXPECT_EQ(read_bytes(root_ / "latest"), "step-00000020\n");

  // The same step damaged again gets a name of its own.
  flip(add(40) / "MANIFEST.json", 10, 1);
  selection = select(root_);
  ASSERT_TRUE(selection);
  EXPECT_EQ(selection->rejected[0].path, root_ / ".corrupt-step-00000040-2");
}

TEST_F(Retention, WhenAllAreDamagedLatestNamesNothing) {
  flip(add(1) / "state.json", 3, 1);
  EXPECT_EQ(chosen_step(), -1);
  EXPECT_THAT(names_in(root_), ElementsAre(".corrupt-step-00000001"));
}

TEST_F(Retention, LatestIsNotBelieved) {
  add(1);
  add(2);
  write_bytes(root_ / "latest", "step-00000001\n");
  EXPECT_EQ(chosen_step(), 2);
  fs::remove(root_ / "latest");
  EXPECT_EQ(chosen_step(), 2);
}

TEST_F(Retention, OnlyRealFoldersWithOurNamesAreCandidates) {
  const fs::path real = add(5);
  fs::create_directory_symlink(real, root_ / "step-00000006");
  write_bytes(root_ / "step-00000007", "a file");
  fs::create_directory(root_ / "step-8");
  auto selection = select(root_);
  ASSERT_TRUE(selection);
  EXPECT_EQ(selection->chosen->step, 5);
  EXPECT_THAT(selection->rejected, IsEmpty());
}

TEST_F(Retention, PruneKeepsTwoVerifiedWhateverIsAsked) {
  for (const std::int64_t step : {1, 2, 3, 4}) add(step);
  for (const int keep : {-1, 0, 1, 2}) {
    ASSERT_TRUE(prune(root_, {keep, 0, {}, {}}));
    EXPECT_THAT(names_in(root_), ElementsAre("latest", "step-00000003", "step-00000004"));
  }
}

TEST_F(Retention, PruneCountsOnlyWhatVerifies) {
  for (const std::int64_t step : {1, 2, 3, 4}) add(step);
  flip(root_ / "step-00000004/state.json", 0, 1);
  auto removed = prune(root_, {2, 0, {}, {}});
  ASSERT_TRUE(removed) << removed.error().message();
  EXPECT_THAT(removed->removed, ElementsAre(root_ / "step-00000001"));
  EXPECT_THAT(names_in(root_),
              ElementsAre("latest", "step-00000002", "step-00000003", "step-00000004"));
}

TEST_F(Retention, PruneKeepsAllWhenTooFewVerify) {
  for (const std::int64_t step : {1, 2, 3}) add(step);
  flip(root_ / "step-00000003/state.json", 0, 1);
  flip(root_ / "step-00000002/state.json", 0, 1);
  EXPECT_THAT(prune(root_, {2, 0, {}, {}}).value().removed, IsEmpty());
  EXPECT_EQ(chosen_step(), 1);
}

TEST_F(Retention, PruneLeavesHeldFolders) {
  for (const std::int64_t step : {1, 2, 3, 4, 5}) add(step);
  auto removed = prune(root_, {3, 0, {"/somewhere/else/step-00000001/"}, {}});
  ASSERT_TRUE(removed);
  EXPECT_THAT(removed->removed, ElementsAre(root_ / "step-00000002"));
}

TEST_F(Retention, PruneKeepsMilestonesAndPins) {
  for (std::int64_t step = 1; step <= 10; ++step) add(step);
  ASSERT_TRUE(pin(root_ / "step-00000002", "before the learning rate was changed"));
  auto told = prune(root_, {2, 4, {}, {}}, true);
  auto removed = prune(root_, {2, 4, {}, {}});
  ASSERT_TRUE(told && removed) << removed.error().message();
  EXPECT_EQ(told->removed, removed->removed);
  EXPECT_THAT(names_in(root_), ElementsAre("latest", "step-00000002", "step-00000004",
                                           "step-00000008", "step-00000009", "step-00000010"));
  ASSERT_TRUE(unpin(root_ / "step-00000002"));
  ASSERT_TRUE(unpin(root_ / "step-00000002"));
  EXPECT_THAT(prune(root_, {2, 4, {}, {}}).value().removed, ElementsAre(root_ / "step-00000002"));
  auto nothing = pin(root_, "no checkpoint");
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().kind, ErrorKind::usage);
}

TEST_F(Retention, APinSurvivesThatItsStepIsSavedAgain) {
  add(1);
  ASSERT_TRUE(pin(root_ / "step-00000001", "the good one"));
  add(1);
  EXPECT_EQ(read_bytes(root_ / "step-00000001/PINNED"), "the good one\n");
  EXPECT_TRUE(verify(root_ / "step-00000001"));
}

TEST_F(Retention, PruneLeavesWhatAProcessHasOpen) {
  for (const std::int64_t step : {1, 2, 3, 4}) add(step);
  {
    auto loaded = load(root_ / "step-00000001");
    auto mapped = map(root_ / "step-00000002");
    ASSERT_TRUE(loaded && mapped);
    auto pruned = prune(root_, {2, 0, {}, {}});
    ASSERT_TRUE(pruned) << pruned.error().message();
    EXPECT_THAT(pruned->removed, IsEmpty());
    EXPECT_THAT(pruned->in_use, ElementsAre(root_ / "step-00000002", root_ / "step-00000001"));
  }
  EXPECT_EQ(prune(root_, {2, 0, {}, {}}).value().removed.size(), 2U);
}

TEST_F(Retention, PruneDoesNotReadWhatIsKnownToBeGood) {
  for (const std::int64_t step : {1, 2, 3, 4}) add(step);
  std::vector<std::string> asked;
  flip(root_ / "step-00000004/state.json", 0, 1);
  auto pruned = prune(root_, {2, 0, {}, [&](const fs::path& folder) {
                                asked.push_back(folder.filename().string());
                                return true;
                              }});
  ASSERT_TRUE(pruned);
  EXPECT_THAT(asked, ElementsAre("step-00000004", "step-00000003"));
  EXPECT_EQ(pruned->removed.size(), 2U);
}

TEST_F(Retention, LeftoversOfADeadWriterAreRemovedByEverybody) {
  add(1);
  const auto leave = [&] {
    fs::create_directories(root_ / ".tmp-step-00000009-1-0" / "deeper");
    write_bytes(root_ / ".tmp-step-00000009-1-0" / "model.safetensors", "half");
    fs::create_directories(root_ / ".tmp-removed-step-00000000-0");
  };
  leave();
  EXPECT_EQ(chosen_step(), 1);
  EXPECT_THAT(names_in(root_), ElementsAre("latest", "step-00000001"));
  leave();
  ASSERT_TRUE(prune(root_, {2, 0, {}, {}}));
  EXPECT_THAT(names_in(root_), ElementsAre("latest", "step-00000001"));
  leave();
  add(2);
  EXPECT_THAT(names_in(root_), ElementsAre("latest", "step-00000001", "step-00000002"));
}

TEST_F(Retention, TheFolderOfALivingWriterStays) {
  add(1);
  const fs::path busy = root_ / ".tmp-step-00000009-1-0";
  fs::create_directory(busy);
  // Another open description, as another process would have.
  const Fd writer(::open(busy.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(writer.get(), LOCK_EX), 0);
  EXPECT_EQ(chosen_step(), 1);
  ASSERT_TRUE(prune(root_, {2, 0, {}, {}}));
  EXPECT_TRUE(fs::exists(busy));
}

TEST_F(Retention, CleaningUpDoesNotFollowLinks) {
  add(1);
  ScratchFolder precious;
  write_bytes(precious.path() / "file", "keep me");
  fs::create_directory_symlink(precious.path(), root_ / ".tmp-link");
  fs::create_directory(root_ / ".tmp-folder");
  fs::create_directory_symlink(precious.path(), root_ / ".tmp-folder" / "link");
  ASSERT_TRUE(prune(root_, {2, 0, {}, {}}));
  EXPECT_TRUE(fs::exists(precious.path() / "file"));
  EXPECT_FALSE(fs::exists(root_ / ".tmp-folder"));
}

TEST_F(Retention, AnInterruptedReplacementIsTakenBackOrFinished) {
  // A crash between the two renames: only the old one is there, under its other name.
  fs::rename(add(7), root_ / ".old-step-00000007");
  EXPECT_EQ(chosen_step(), 7);
  // A crash after the second.
  fs::copy(root_ / "step-00000007", root_ / ".old-step-00000007");
  EXPECT_EQ(chosen_step(), 7);
  EXPECT_THAT(names_in(root_), ElementsAre("latest", "step-00000007"));
}

}  // namespace
}  // namespace trainward::checkpoint
