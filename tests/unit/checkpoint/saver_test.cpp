// Saving in the background: what is saved is what was there at begin(), one save at a time.
#include "checkpoint/saver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <future>

#include "support.hpp"
#include "system_calls.hpp"

namespace trainward::checkpoint {
namespace {

using ::testing::HasSubstr;
using testing::Medium;
using testing::Sample;
using testing::ScratchFolder;

class SaverTest : public ::testing::Test {
 protected:
  ScratchFolder scratch_{Medium::memory};
  std::filesystem::path root_ = scratch_.path() / "root";
};

TEST_F(SaverTest, SavesWhatWasThereWhenItBegan) {
  Sample sample(1);
  std::vector<float> values(3'000'000, 1.5F);
  sample.contents().model.push_back(
      {{"large", DType::f32, {3'000'000}}, std::as_bytes(std::span(values))});
  const auto expected = save(scratch_.path() / "direct", sample.contents());
  Saver saver(root_);
  ASSERT_TRUE(saver.reserve(sample.contents()));
  ASSERT_TRUE(saver.begin(sample.contents()));
  std::fill(values.begin(), values.end(), -7.0F);  // the training goes on
  EXPECT_EQ(saver.pending(), 1);
  const auto outcome = saver.wait();
  ASSERT_TRUE(outcome && outcome->folder) << outcome->folder.error().message();
  EXPECT_EQ(outcome->step, 1);
  EXPECT_EQ(digest(*outcome->folder).value(), digest(*expected).value());
  EXPECT_FALSE(saver.pending());
  EXPECT_FALSE(saver.take());
  EXPECT_FALSE(saver.wait());
}

TEST_F(SaverTest, TheMemoryIsReusedAndGrows) {
  Saver saver(root_);
  for (std::int64_t step = 1; step <= 5; ++step) {
    Sample sample(step);
    sample.add_model("grows", DType::f32, {step * 100'000});
    ASSERT_TRUE(saver.begin(sample.contents()));
    ASSERT_TRUE(saver.wait()->folder);
    EXPECT_EQ(digest(root_ / fmt::format("step-{:08}", step)).value(),
              digest(save(scratch_.path() / "direct", sample.contents()).value()).value());
  }
}

TEST_F(SaverTest, ASecondSaveIsRefusedWhileOneIsRunning) {
  // The first save stands still in its first write until the test lets it go.
  std::promise<void> go;
  auto may_go = go.get_future().share();
  SaveOptions options;
  options.io.progress = [may_go](std::uint64_t, std::uint64_t) -> Status {
    may_go.wait();
    return {};
  };
  Saver saver(root_, options);
  ASSERT_TRUE(saver.begin(Sample(1).contents()));
  auto second = saver.begin(Sample(2).contents());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::transient);
  EXPECT_THAT(second.error().what, HasSubstr("save of step 1 is still running"));
  EXPECT_FALSE(saver.take());
  go.set_value();
  EXPECT_EQ(saver.wait()->step, 1);
  EXPECT_TRUE(saver.begin(Sample(2).contents()));
  EXPECT_TRUE(saver.wait()->folder);
}

TEST_F(SaverTest, AFailedSaveIsTheOutcomeAndTheNextWorks) {
  Saver saver(root_, testing::intercepted());
  {
    const testing::Interception full([](const testing::Event& event) {
      return event.call == testing::Call::reserve ? ENOSPC : 0;
    });
    ASSERT_TRUE(saver.begin(Sample(1).contents()));
    const auto outcome = saver.wait();
    ASSERT_FALSE(outcome->folder);
    EXPECT_EQ(outcome->step, 1);
    EXPECT_THAT(outcome->folder.error().message(), HasSubstr("No space left"));
  }
  ASSERT_TRUE(saver.begin(Sample(2).contents()));
  EXPECT_TRUE(saver.wait()->folder);
}

TEST_F(SaverTest, TheDiskIsAskedForRoomBeforeAnythingIsWritten) {
  ASSERT_TRUE(save(root_, Sample(1).contents()));
  Saver saver(root_, testing::intercepted());
  std::vector<testing::Call> calls;
  testing::Interception small_disk([&](const testing::Event& event) {
    calls.push_back(event.call);
    return 0;
  });
  small_disk.free_bytes = 8192;
  ASSERT_TRUE(saver.begin(Sample(2).contents()));
  const auto outcome = saver.wait();
  ASSERT_FALSE(outcome->folder);
  EXPECT_THAT(outcome->folder.error().what, HasSubstr("the disk is too full"));
  EXPECT_THAT(outcome->folder.error().what, HasSubstr("missing"));
  EXPECT_THAT(calls, ::testing::Not(::testing::Contains(testing::Call::create)));
  EXPECT_TRUE(verify(root_ / "step-00000001"));
}

TEST_F(SaverTest, WhatCannotBeSavedIsRefusedBeforeAnythingIsCopied) {
  Saver saver(root_);
  Sample sample(1);
  sample.contents().model[0].info.shape = {17, 9};
  auto begun = saver.begin(sample.contents());
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().kind, ErrorKind::usage);
  EXPECT_THAT(begun.error().what, HasSubstr("its shape and type need"));
  EXPECT_FALSE(saver.pending());
}

}  // namespace
}  // namespace trainward::checkpoint
