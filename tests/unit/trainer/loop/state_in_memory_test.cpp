// Which state in memory an attempt begins from, and what of it is refused, with the reason.
#include "trainer/loop/checkpoints/state_in_memory.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/slot_header.hpp"
#include "fake_trainable.hpp"
#include "worker_bench.hpp"

namespace trainward::trainer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(CopyPace, EveryStepWhereItFitsBesideOne) {
  using std::chrono::microseconds;
  using std::chrono::milliseconds;
  CopyPace pace(true);
  EXPECT_FALSE(pace.due()) << "no step was done";
  pace.stepped(milliseconds(10));
  EXPECT_TRUE(pace.due());
  pace.begun();
  // The copy took long, but nobody waited for it.
  for (int i = 0; i < 9; ++i) pace.copied(microseconds(90), milliseconds(9));
  EXPECT_EQ(pace.every(), 1);
  pace.stepped(milliseconds(10));
  EXPECT_TRUE(pace.due());
}

TEST(CopyPace, AHundredthOfTheTimeElsewhere) {
  using std::chrono::milliseconds;
  CopyPace pace(false);
  pace.stepped(milliseconds(10));
  pace.begun();
  for (const int first : {400, 2, 2}) {
    EXPECT_EQ(pace.every(), 1) << "too little is known of what a copy costs";
    pace.copied(milliseconds(0), milliseconds(first));
  }
  EXPECT_EQ(pace.every(), 20) << "one that was dear says nothing of the next";
  for (int i = 0; i < 19; ++i) pace.stepped(milliseconds(10));
  EXPECT_FALSE(pace.due());
  pace.stepped(milliseconds(10));
  EXPECT_TRUE(pace.due());
  CopyPace waits(true);
  waits.stepped(milliseconds(10));
  for (int i = 0; i < 20; ++i) waits.copied(milliseconds(1), milliseconds(2));
  EXPECT_EQ(waits.every(), 10);
}

// Twelve steps, each of them on the disk; what of them is in memory is up to the test.
class StateInMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    bench_.training()["checkpoint_every"] = 1;
    ASSERT_EQ(run(), exit_code::done) << bench_.said.err;
    straight_ = digest();
    std::filesystem::rename(bench_.checkpoints(), bench_.folder() / "straight");
    bench_.training()["checkpoint_every"] = 1000;
    record_ = {};
  }
  int run() {
    return bench_.run([this](const TrainingSpec&) -> Result<std::unique_ptr<Trainable>> {
      return std::make_unique<FakeTrainable>(record_);
    });
  }
  [[nodiscard]] std::string digest() const {
    return checkpoint::digest(bench_.checkpoint(12)).value_or("none");
  }
  [[nodiscard]] std::filesystem::path straight(std::int64_t step) const {
    return bench_.folder() / "straight" / fmt::format("step-{:08}", step);
  }
  [[nodiscard]] checkpoint::StateSlot slot(std::size_t number) const {
    return {Fd(::dup(slots_.at(number).get())), fmt::format("memory slot {}", number + 1)};
  }
  // As the attempt before would have left it.
  void leave(std::size_t number, std::int64_t step, const std::string& run = "test") const {
    const auto loaded = checkpoint::load(straight(step));
    ASSERT_TRUE(loaded) << loaded.error().message();
    checkpoint::Contents contents{loaded->state(), loaded->model(), loaded->optimizer()};
    contents.state.run = run;
    ASSERT_TRUE(slot(number).write(contents));
  }
  // An attempt that is given the memory, and the checkpoint of this step; -1: no checkpoint.
  void attempt(std::int64_t disk) {
    bench_.environment.resume_from = disk < 0 ? "" : straight(disk).string();
    bench_.environment.memory =
        fmt::format("{},{}", ::dup(slots_[0].get()), ::dup(slots_[1].get()));
    ASSERT_EQ(run(), exit_code::done) << bench_.said.err;
    EXPECT_EQ(digest(), straight_) << bench_.said.out;
  }
  [[nodiscard]] std::vector<std::string> sources() const { return bench_.said.all("RESUMED_FROM"); }

  WorkerBench bench_;
  FakeRecord record_;
  std::array<Fd, 2> slots_{Fd(::memfd_create("trainward-state", MFD_ALLOW_SEALING)),
                           Fd(::memfd_create("trainward-state", MFD_ALLOW_SEALING))};
  std::string straight_;
};

TEST_F(StateInMemoryTest, TheNewestIsTaken) {
  leave(0, 7);
  leave(1, 6);
  attempt(4);
  EXPECT_THAT(record_.restored, ElementsAre(7));
  EXPECT_THAT(sources(), ElementsAre("memory"));
  EXPECT_EQ(bench_.said.all("RESUMED_STEP").back(), "7");
}

TEST_F(StateInMemoryTest, ItNeedsNoCheckpoint) {
  leave(1, 2);
  attempt(-1);
  EXPECT_THAT(record_.restored, ElementsAre(2));
}

TEST_F(StateInMemoryTest, ATornOneLeavesTheOther) {
  leave(0, 7);
  leave(1, 6);
  const std::uint32_t torn = 0;
  ASSERT_EQ(
      ::pwrite(slots_[0].get(), &torn, sizeof torn, offsetof(checkpoint::SlotHeader, complete)),
      ssize_t{sizeof torn});
  attempt(4);
  EXPECT_THAT(record_.restored, ElementsAre(6));
  EXPECT_THAT(
      bench_.said.all("STATUS"),
      Contains("memory slot 1 is not resumed from: it is torn: its writer was interrupted"));
}

TEST_F(StateInMemoryTest, ADamagedOneLeavesTheDisk) {
  leave(0, 7);
  const char damage = '!';
  checkpoint::SlotHeader header;
  ASSERT_EQ(::pread(slots_[0].get(), &header, sizeof header, 0), ssize_t{sizeof header});
  // In the model's tensor, which lies behind its header of a page.
  ASSERT_EQ(::pwrite(slots_[0].get(), &damage, 1, static_cast<off_t>(header.files_at) + 4097), 1);
  attempt(4);
  EXPECT_THAT(record_.restored, ElementsAre(4));
  EXPECT_TRUE(sources().empty());
  EXPECT_THAT(bench_.said.all("STATUS"), Contains(HasSubstr("memory slot 1 is not resumed from: "
                                                            "it is damaged between bytes")));
}

TEST_F(StateInMemoryTest, AnOlderOneThanTheDisksIsNotTaken) {
  leave(0, 3);
  leave(1, 4);
  attempt(4);
  EXPECT_THAT(record_.restored, ElementsAre(4));
  EXPECT_THAT(bench_.said.all("STATUS"),
              Contains("memory slot 1 is not resumed from: it holds step 3, and the checkpoint on "
                       "the disk step 4"));
  EXPECT_THAT(bench_.said.all("STATUS"), Not(Contains(HasSubstr("memory slot 2"))));
}

TEST_F(StateInMemoryTest, AnotherRunsIsNotTaken) {
  leave(0, 7, "other");
  attempt(4);
  EXPECT_THAT(record_.restored, ElementsAre(4));
  EXPECT_THAT(bench_.said.all("STATUS"), Contains(HasSubstr("it is of the run 'other'")));
}

// The step is done with other settings: from the disk this would be refused for good.
TEST_F(StateInMemoryTest, AnotherConfigurationsIsNotTaken) {
  leave(0, 7);
  bench_.training()["seed"] = 8;
  bench_.environment.resume_from = "";
  bench_.environment.memory = fmt::format("{},{}", ::dup(slots_[0].get()), ::dup(slots_[1].get()));
  ASSERT_EQ(run(), exit_code::done) << bench_.said.err;
  EXPECT_TRUE(record_.restored.empty());
  EXPECT_EQ(bench_.said.all("STEP").front(), "1");
  EXPECT_THAT(
      bench_.said.all("STATUS"),
      Contains("memory slot 1 is not resumed from: it belongs to a run with other settings: "
               "training_config.seed was 7 and is 8"));
}

TEST_F(StateInMemoryTest, WhatThreeAttemptsBeganFromInVainIsNotTakenAgain) {
  leave(0, 7);
  for (int i = 0; i < most_takings; ++i) {
    EXPECT_EQ(slot(0).claim()->takings, i);
    record_ = {};
    record_.fail_at = 8;
    bench_.environment.resume_from = straight(4).string();
    bench_.environment.memory =
        fmt::format("{},{}", ::dup(slots_[0].get()), ::dup(slots_[1].get()));
    EXPECT_EQ(run(), exit_code::failed);
    EXPECT_THAT(record_.restored, ElementsAre(7));
  }
  record_ = {};
  attempt(4);
  EXPECT_THAT(record_.restored, ElementsAre(4));
  EXPECT_THAT(bench_.said.all("STATUS"), Contains(HasSubstr("3 attempts began from its step 7")));
}

TEST_F(StateInMemoryTest, OffItGivesTheMemoryBack) {
  leave(0, 7);
  bench_.training()["checkpoint_memory"] = "off";
  attempt(4);
  EXPECT_THAT(record_.restored, ElementsAre(4));
  EXPECT_EQ(slot(0).allocated(), 0);
}

TEST_F(StateInMemoryTest, WhatIsNotTheShimsIsLeftAlone) {
  const Fd other(::memfd_create("somebody's", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  for (const std::string& numbers :
       {fmt::format("{},{}", other.get(), other.get()), std::string("1,2"),
        std::string("9999,9998"), std::string("x"), std::string(","), std::string("3")}) {
    SCOPED_TRACE(numbers);
    record_ = {};
    std::filesystem::remove_all(bench_.checkpoints());
    bench_.environment.memory = numbers;
    ASSERT_EQ(run(), exit_code::done) << bench_.said.err;
    EXPECT_THAT(bench_.said.all("STATUS"),
                Contains(HasSubstr("the descriptors that were named are not its")));
  }
  EXPECT_NE(::fcntl(other.get(), F_GETFD), -1) << "it is open still";
}

TEST_F(StateInMemoryTest, WithoutRoomItSaysSoAndHoldsNothing) {
  leave(0, 7);
  std::vector<std::string> lines;
  Reporter reporter({[](const Message&) {},
                     [&](std::string_view text) { lines.emplace_back(text); },
                     [](std::string_view) {}, [] { return Time{}; }});
  const auto loaded = checkpoint::load(straight(4));
  ASSERT_TRUE(loaded);
  const checkpoint::Contents contents{loaded->state(), loaded->model(), loaded->optimizer()};
  const std::uint64_t bytes = checkpoint::slot_bytes(contents).value();
  StateInMemory memory({slot(0), slot(1)}, reporter);
  const auto give = [&](std::uint64_t copies, std::uint64_t less) {
    memory.reserve(contents, static_cast<std::int64_t>(copies * bytes - less), 0, true);
    memory.settle();
  };
  give(3, slot(0).allocated() + 1);
  EXPECT_THAT(lines.back(), HasSubstr("state is not kept in memory between checkpoints: two "));
  EXPECT_EQ(slot(0).allocated(), 0);
  EXPECT_FALSE(memory.remember(std::chrono::seconds(1), [&] { return contents; }));
  give(3, 0);
  EXPECT_THAT(lines.back(), HasSubstr("state is kept in memory between checkpoints"));
}

}  // namespace
}  // namespace trainward::trainer
