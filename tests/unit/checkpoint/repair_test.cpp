// Putting a folder of checkpoints in order.
#include "checkpoint/tools/repair.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include "checkpoint/format/block_hash.hpp"
#include "common/os/fd.hpp"
#include "support.hpp"

namespace trainward::checkpoint {
namespace {

namespace fs = std::filesystem;
using Action = Repair::Action;
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

class RepairTest : public ::testing::Test {
 protected:
  fs::path add(std::int64_t step, std::uint64_t seed = 1) {
    auto folder = save(root_, Sample(step, seed).contents());
    EXPECT_TRUE(folder) << folder.error().message();
    return *folder;
  }
  Repair run(bool dry_run = false) {
    auto done = repair(root_, dry_run);
    EXPECT_TRUE(done) << done.error().message();
    return done.value_or(Repair());
  }
  static std::vector<Action> actions(const Repair& repair) {
    std::vector<Action> all;
    for (const Repair::Step& step : repair.steps) all.push_back(step.action);
    return all;
  }
  ScratchFolder scratch_{Medium::memory};
  fs::path root_ = scratch_.path();
};

TEST_F(RepairTest, NothingToDoWhereNothingIsWrong) {
  EXPECT_THAT(run().steps, IsEmpty());
  add(1);
  add(2);
  const Repair done = run();
  EXPECT_THAT(done.steps, IsEmpty());
  ASSERT_EQ(done.good.size(), 2U);
  EXPECT_EQ(done.good[0].step, 2);
  root_ /= "missing";
  EXPECT_THAT(run().steps, IsEmpty());
  EXPECT_FALSE(fs::exists(root_));
}

TEST_F(RepairTest, DamagedOnesGoAsideAndLatestFollows) {
  add(1);
  add(2);
  add(3);
  flip(root_ / "step-00000003/model.safetensors", 4200, 1);
  fs::remove(root_ / "step-00000001/MANIFEST.json");
  const Repair done = run();
  EXPECT_TRUE(done.complete());
  EXPECT_THAT(actions(done),
              ElementsAre(Action::set_aside, Action::set_aside, Action::pointed_latest));
  EXPECT_THAT(done.steps[0].reason, HasSubstr("model.safetensors: is damaged"));
  EXPECT_EQ(done.steps[0].to, root_ / ".corrupt-step-00000003");
  EXPECT_THAT(names_in(root_), ElementsAre(".corrupt-step-00000001", ".corrupt-step-00000003",
                                           "latest", "step-00000002"));
  EXPECT_EQ(read_bytes(root_ / "latest"), "step-00000002\n");
  EXPECT_THAT(run().steps, IsEmpty()) << "what is damaged and aside stays where it is";
}

TEST_F(RepairTest, GoodOnesThatWereSetAsideComeBack) {
  add(1);
  fs::rename(add(2), root_ / ".corrupt-step-00000002-2");
  fs::rename(add(3), root_ / ".corrupt-step-00000003");
  flip(root_ / ".corrupt-step-00000003/state.json", 3, 1);
  const Repair done = run();
  ASSERT_EQ(done.steps.size(), 2U);
  EXPECT_EQ(done.steps[0].action, Action::brought_back);
  EXPECT_EQ(done.steps[0].to, root_ / "step-00000002");
  EXPECT_EQ(done.steps[1].action, Action::pointed_latest);
  EXPECT_THAT(names_in(root_),
              ElementsAre(".corrupt-step-00000003", "latest", "step-00000001", "step-00000002"));
  EXPECT_EQ(read_bytes(root_ / "latest"), "step-00000002\n");
}

TEST_F(RepairTest, ADamagedOneMakesRoomForAGoodOneOfItsStep) {
  fs::rename(add(7), root_ / ".corrupt-step-00000007");
  flip(add(7) / "state.json", 3, 1);
  const Repair done = run();
  EXPECT_THAT(actions(done), ElementsAre(Action::set_aside, Action::brought_back));
  EXPECT_THAT(names_in(root_), ElementsAre(".corrupt-step-00000007-2", "latest", "step-00000007"));
}

TEST_F(RepairTest, AGoodOneWhoseNameIsTakenStaysAside) {
  fs::rename(add(7, 1), root_ / ".corrupt-step-00000007");
  add(7, 2);
  const Repair done = run();
  EXPECT_THAT(done.steps, IsEmpty());
  ASSERT_EQ(done.spare.size(), 1U);
  EXPECT_EQ(done.spare[0].path, root_ / ".corrupt-step-00000007");
  EXPECT_EQ(done.good.size(), 1U);
}

TEST_F(RepairTest, AWholeCheckpointOfAnotherStepDoesNotComeBack) {
  fs::rename(add(7), root_ / ".corrupt-step-00000008");
  const Repair done = run();
  EXPECT_THAT(done.good, IsEmpty());
  EXPECT_FALSE(fs::exists(root_ / "step-00000008"));
}

TEST_F(RepairTest, WhatCannotBeReadOrIsNewerIsLeftAlone) {
  add(1);
  const fs::path newer = add(2);
  // Sealed again, as a later version would have written it.
  const std::string text = read_bytes(newer / "MANIFEST.json");
  std::string body = text.substr(0, text.rfind("  \"checksum\""));
  body.replace(body.find("\"version\": 1"), 12, "\"version\": 9");
  write_bytes(newer / "MANIFEST.json", body + "  \"checksum\": \"" + hash_hex(body) + "\"\n}\n");
  const Repair done = run();
  ASSERT_EQ(done.left_alone.size(), 1U);
  EXPECT_THAT(done.left_alone[0].reason, HasSubstr("format version 9"));
  EXPECT_TRUE(fs::exists(newer));
  EXPECT_EQ(read_bytes(root_ / "latest"), "step-00000002\n")
      << "it may well be the newest that verifies, for software that can read it";
}

TEST_F(RepairTest, LeftoversGoAndAnInterruptedReplacementComesBack) {
  add(1);
  fs::rename(add(2), root_ / ".old-step-00000002");
  fs::create_directories(root_ / ".tmp-step-00000009-1-0");
  write_bytes(root_ / ".tmp-step-00000009-1-0" / "model.safetensors", "half");
  const Repair told = run(true);
  const Repair done = run();
  for (const Repair* one : {&told, &done}) {
    EXPECT_THAT(actions(*one),
                ::testing::UnorderedElementsAre(Action::removed, Action::brought_back));
    ASSERT_FALSE(one->good.empty());
    EXPECT_EQ(one->good[0].path, root_ / "step-00000002");
  }
  EXPECT_THAT(names_in(root_), ElementsAre("latest", "step-00000001", "step-00000002"));
}

TEST_F(RepairTest, TheFolderOfALivingWriterStays) {
  const fs::path busy = root_ / ".tmp-step-00000009-1-0";
  fs::create_directory(busy);
  const Fd writer(::open(busy.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(writer.get(), LOCK_EX), 0);
  EXPECT_THAT(run().steps, IsEmpty());
  EXPECT_TRUE(fs::exists(busy));
}

TEST_F(RepairTest, ADryRunTellsTheSameAndChangesNothing) {
  add(1);
  flip(add(2) / "state.json", 3, 1);
  fs::rename(add(3), root_ / ".corrupt-step-00000003");
  const auto before = names_in(root_);
  const Repair told = run(true);
  EXPECT_EQ(names_in(root_), before);
  const Repair done = run();
  EXPECT_EQ(actions(told), actions(done));
  EXPECT_EQ(told.good.size(), done.good.size());
}

TEST_F(RepairTest, EndedWhileItReadsItHasChangedNothing) {
  add(1);
  flip(add(2) / "state.json", 3, 1);
  add(3);
  const auto before = names_in(root_);
  int calls = 0;
  IoOptions io;
  io.progress = [&](std::uint64_t done, std::uint64_t total) -> Status {
    EXPECT_LE(done, total);
    if (++calls < 8) return {};
    return fail(ErrorKind::transient, "enough");
  };
  const auto ended = repair(root_, false, io);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().what, "enough");
  EXPECT_EQ(names_in(root_), before);
}

TEST_F(RepairTest, WithoutAGoodOneLatestNamesNothing) {
  flip(add(1) / "state.json", 3, 1);
  const Repair done = run();
  EXPECT_THAT(actions(done), ElementsAre(Action::set_aside, Action::pointed_latest));
  EXPECT_THAT(names_in(root_), ElementsAre(".corrupt-step-00000001"));
}

}  // namespace
}  // namespace trainward::checkpoint
