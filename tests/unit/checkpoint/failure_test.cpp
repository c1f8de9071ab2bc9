// A disk that refuses, lies or is full: save() says so and the previous checkpoint is untouched.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/disk/latest.hpp"
#include "checkpoint/tools/repair.hpp"
#include "support.hpp"
#include "system_calls.hpp"

namespace trainward::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::Call;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using testing::Event;
using ::testing::HasSubstr;
using testing::intercepted;
using testing::Interception;
using testing::Medium;
using testing::names_in;
using testing::read_bytes;
using testing::Sample;
using testing::ScratchFolder;

class Failure : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(save(root_, Sample(1).contents()));
    ASSERT_TRUE(save(root_, Sample(2).contents()));
    before_ = digest(root_ / "step-00000002").value();
  }
  // Nothing but the two checkpoints from before, both whole.
  void expect_untouched() {
    EXPECT_THAT(names_in(root_), ElementsAre("latest", "step-00000001", "step-00000002"));
    EXPECT_EQ(read_bytes(root_ / "latest"), "step-00000002\n");
    EXPECT_TRUE(verify(root_ / "step-00000001"));
    EXPECT_EQ(digest(root_ / "step-00000002").value_or("damaged"), before_);
  }
  ScratchFolder scratch_{Medium::memory};
  fs::path root_ = scratch_.path();
  std::string before_;
};

// Counts the calls of a save, then saves again once for every one of them and makes that one fail.
void fail_each_call(const fs::path& root, std::int64_t step, int error_number,
                    const std::function<void()>& after_error) {
  for (int victim = 0;; ++victim) {
    int seen = 0;
    std::string what;
    Result<fs::path> saved;
    {
      const Interception calls([&](const Event& event) {
        if (seen++ != victim) return 0;
        what = fmt::format("call {} of kind {} on {}", victim, static_cast<int>(event.call),
                           event.path);
        return error_number;
      });
      saved = save(root, Sample(step, 99).contents(), intercepted());
    }
    if (seen <= victim) {
      EXPECT_TRUE(saved);
      EXPECT_GT(victim, 15);  // the seams above are the ones save() goes through
      return;
    }
    SCOPED_TRACE(what);
    if (!saved) {
      EXPECT_FALSE(saved.error().where.empty());
      EXPECT_THAT(saved.error().what, HasSubstr("cannot"));
      after_error();
    } else {
      // A failed fsync is recovered by rewriting the file.
      EXPECT_TRUE(verify(*saved));
      fs::remove_all(root);
      ASSERT_TRUE(save(root, Sample(1).contents()));
      ASSERT_TRUE(save(root, Sample(2).contents()));
    }
    if (::testing::Test::HasFailure()) return;
  }
}

TEST_F(Failure, EveryCallOfANewSaveMayFail) {
  for (const int error_number : {EIO, ENOSPC}) {
    fail_each_call(root_, 3, error_number, [&] { expect_untouched(); });
    fs::remove_all(root_);
    SetUp();
  }
}

// Many trainers call a folder so.
TEST_F(Failure, ACheckpointCountsWhateverBecomesOfTheHint) {
  fs::remove(root_ / "latest");
  fs::create_directories(root_ / "latest/of/somebody/else");
  ASSERT_TRUE(save(root_, Sample(3).contents()));
  EXPECT_TRUE(verify(root_ / "step-00000003"));
  EXPECT_THAT(latest_problem(root_ / "step-00000003"), HasSubstr("latest"));
  auto selection = select(root_);
  ASSERT_TRUE(selection && selection->chosen);
  EXPECT_EQ(selection->chosen->step, 3);
  auto repaired = repair(root_, false);
  ASSERT_TRUE(repaired);
  ASSERT_EQ(repaired->steps.size(), 1U);
  EXPECT_EQ(repaired->steps[0].reason, "it named nothing");
  EXPECT_THAT(repaired->steps[0].problem, HasSubstr("latest"));
  EXPECT_TRUE(fs::is_directory(root_ / "latest/of/somebody/else"));
  EXPECT_THAT(names_in(root_),
              ElementsAre("latest", "step-00000001", "step-00000002", "step-00000003"));
}

TEST_F(Failure, TheNextLookMendsTheHint) {
  {
    const Interception calls([](const Event& event) {
      return event.to.ends_with("latest") || event.path.starts_with("latest") ? ENOSPC : 0;
    });
    ASSERT_TRUE(save(root_, Sample(3).contents(), intercepted()));
  }
  EXPECT_EQ(read_bytes(root_ / "latest"), "step-00000002\n");
  ASSERT_TRUE(select(root_));
  EXPECT_EQ(read_bytes(root_ / "latest"), "step-00000003\n");
  fs::remove(root_ / "latest");
  ASSERT_TRUE(select(root_));
  EXPECT_EQ(read_bytes(root_ / "latest"), "step-00000003\n");
  testing::write_bytes(root_ / "latest", "global_step500");  // DeepSpeed's
  ASSERT_TRUE(select(root_));
  EXPECT_EQ(read_bytes(root_ / "latest"), "global_step500");
  EXPECT_EQ(latest_problem(root_ / "step-00000003"), "");
  EXPECT_EQ(read_bytes(root_ / "latest"), "step-00000003\n");
}

TEST_F(Failure, EveryCallOfAReplacingSaveMayFail) {
  fail_each_call(root_, 2, EIO, [&] { expect_untouched(); });
}

TEST_F(Failure, EveryCallMayFailWhereFoldersCannotBeExchanged) {
  for (int victim = 0;; ++victim) {
    int seen = 0;
    Result<fs::path> saved;
    {
      const Interception calls([&](const Event& event) {
        if (event.call == Call::exchange) return EINVAL;
        return seen++ == victim ? EIO : 0;
      });
      saved = save(root_, Sample(2, 99).contents(), intercepted());
    }
    auto selection = select(root_);
    ASSERT_TRUE(selection && selection->chosen);
    EXPECT_EQ(selection->chosen->step, 2) << "call " << victim;
    EXPECT_TRUE(selection->rejected.empty()) << "call " << victim;
    EXPECT_THAT(names_in(root_), ElementsAre("latest", "step-00000001", "step-00000002"));
    if (seen <= victim) {
      EXPECT_TRUE(saved) << saved.error().message();
      EXPECT_NE(digest(root_ / "step-00000002").value(), before_);
      return;
    }
  }
}

TEST_F(Failure, AFileWhoseFsyncFailedIsWrittenAnewOnce) {
  int created = 0;
  int failures = 1;
  const auto handler = [&](const Event& event) {
    if (event.call == Call::create && event.path == "model.safetensors") ++created;
    const bool ours = event.call == Call::sync && event.path.ends_with("model.safetensors");
    return ours && failures-- > 0 ? EIO : 0;
  };
  {
    const Interception calls(handler);
    auto saved = save(root_, Sample(3).contents(), intercepted());
    EXPECT_TRUE(saved) << saved.error().message();
    EXPECT_EQ(created, 2);
  }
  EXPECT_TRUE(verify(root_ / "step-00000003"));
  fs::remove_all(root_ / "step-00000003");
  {
    created = 0;
    failures = 2;
    const Interception calls(handler);
    auto saved = save(root_, Sample(3).contents(), intercepted());
    ASSERT_FALSE(saved);
    EXPECT_EQ(created, 2);
    EXPECT_THAT(saved.error().message(), HasSubstr("cannot fsync the file"));
    EXPECT_THAT(saved.error().hint, HasSubstr("kernel log"));
  }
}

TEST_F(Failure, NothingMovesBeforeItIsOnTheDisk) {
  std::vector<std::string> order;
  {
    const Interception calls([&](const Event& event) {
      const std::string name = fs::path(event.path).filename().string();
      if (event.call == Call::sync) order.push_back("sync " + name);
      if (event.call == Call::rename || event.call == Call::exchange) {
        order.push_back("rename " + fs::path(event.to).filename().string());
      }
      return 0;
    });
    ASSERT_TRUE(save(root_, Sample(3).contents(), intercepted()));
  }
  ASSERT_EQ(order.size(), 10U);
  const std::string root = root_.filename().string();
  EXPECT_EQ(order[0], "sync model.safetensors");
  EXPECT_EQ(order[1], "sync optimizer.safetensors");
  EXPECT_EQ(order[2], "sync state.json");
  EXPECT_EQ(order[3], "sync MANIFEST.json");
  EXPECT_THAT(order[4], HasSubstr("sync .tmp-step-00000003"));
  EXPECT_EQ(order[5], "rename step-00000003");
  EXPECT_EQ(order[6], "sync " + root);
  EXPECT_THAT(order[7], HasSubstr("sync latest."));
  EXPECT_EQ(order[8], "rename latest");
  EXPECT_EQ(order[9], "sync " + root);
}

TEST_F(Failure, ADiskThatReturnsOtherBytesIsNoticed) {
  for (const char* name :
       {"model.safetensors", "optimizer.safetensors", "state.json", "MANIFEST.json"}) {
    for (const std::int64_t step : {2, 3}) {
      Result<fs::path> saved;
      {
        const Interception calls([](const Event&) { return 0; },
                                 [&](const std::string& path, std::span<char> bytes) {
                                   if (path.ends_with(name)) bytes[bytes.size() / 2] ^= 4;
                                 });
        saved = save(root_, Sample(step, 99).contents(), intercepted());
      }
      ASSERT_FALSE(saved) << name;
      EXPECT_EQ(saved.error().kind, ErrorKind::corrupt);
      EXPECT_THAT(saved.error().message(), HasSubstr("read back from the disk"));
      EXPECT_THAT(saved.error().where, EndsWith(name));
      expect_untouched();
    }
  }
}

TEST_F(Failure, ADamagedCheckpointIsReplacedBySavingItsStepAgain) {
  testing::flip(root_ / "step-00000002/model.safetensors", 4500, 1);
  ASSERT_TRUE(save(root_, Sample(2).contents()));
  expect_untouched();
}

// In a process of its own: the limit would hold for the rest of this one, too.
TEST_F(Failure, AFileTooLargeForTheSystemIsRefusedAndLeavesNothing) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{6000, 6000};  // the header of 4096 fits, the tensors do not
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(10);
    Sample sample(3);
    sample.add_model("large", DType::f32, {1000});
    auto saved = save(root_, sample.contents());
    if (saved) ::_exit(11);
    const std::string message = saved.error().message();
    const bool clear = message.find("model.safetensors") != message.npos &&
                       message.find("File too large") != message.npos &&
                       message.find("ulimit") != message.npos;
    ::_exit(clear ? 0 : 12);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  expect_untouched();
}

TEST_F(Failure, ARootThatCannotBeMadeIsNamed) {
  // Root may write anywhere, but nobody can make a folder inside a file or in /proc.
  testing::write_bytes(root_ / "file", "");
  for (const auto& [root, named] : {std::pair(root_ / "file" / "checkpoints", root_ / "file"),
                                    {fs::path("/proc/checkpoints"), "/proc/checkpoints"}}) {
    auto saved = save(root, Sample(1).contents());
    ASSERT_FALSE(saved);
    EXPECT_THAT(saved.error().message(), HasSubstr(named.string()));
  }
  fs::remove(root_ / "file");
  expect_untouched();
}

TEST_F(Failure, AReadOnlyRootIsRefusedWithAHint) {
  Result<fs::path> saved;
  {
    const Interception calls(
        [](const Event& event) { return event.call == Call::make_folder ? EROFS : 0; });
    saved = save(root_, Sample(3).contents(), intercepted());
  }
  ASSERT_FALSE(saved);
  EXPECT_THAT(saved.error().message(), HasSubstr("Read-only file system"));
  EXPECT_THAT(saved.error().hint, HasSubstr("writable"));
  expect_untouched();
}

TEST_F(Failure, DamageThatCannotBeSetAsideIsStillPassedOver) {
  testing::flip(root_ / "step-00000002/model.safetensors", 4500, 1);
  const Interception calls(
      [](const Event& event) { return event.call == Call::rename ? EROFS : 0; });
  auto selection = select(root_);
  ASSERT_TRUE(selection && selection->chosen);
  EXPECT_EQ(selection->chosen->step, 1);
  ASSERT_EQ(selection->rejected.size(), 1U);
  EXPECT_EQ(selection->rejected[0].path, root_ / "step-00000002");
  EXPECT_THAT(selection->rejected[0].reason, HasSubstr("could not be set aside"));
}

// Descriptors run out at every place in turn: the newest is chosen, or nothing yet.
TEST_F(Failure, WhatCannotBeReadJustNowIsNotPassedOver) {
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  const int lowest = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(lowest, 0);
  ::close(lowest);
  int refused = 0;
  for (rlim_t more = 0; more < 12; ++more) {
    const rlimit tight{static_cast<rlim_t>(lowest) + more, usual.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
    const auto selection = select(root_);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
    if (selection) {
      ASSERT_TRUE(selection->chosen) << more;
      EXPECT_EQ(selection->chosen->step, 2) << more;
    } else {
      EXPECT_EQ(selection.error().kind, ErrorKind::transient) << selection.error().message();
      ++refused;
    }
    expect_untouched();
  }
  EXPECT_GT(refused, 1);
  EXPECT_LT(refused, 12);
}

// Passed over for an older one, but never for a new beginning.
TEST_F(Failure, WhatNobodyMayReadIsLeftWhereItIs) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  ASSERT_EQ(::chmod((root_ / "step-00000002/model.safetensors").c_str(), 0), 0);
  const auto selection = select(root_);
  ASSERT_TRUE(selection && selection->chosen);
  EXPECT_EQ(selection->chosen->step, 1);
  ASSERT_EQ(selection->rejected.size(), 1U);
  EXPECT_EQ(selection->rejected[0].path, root_ / "step-00000002");
  ASSERT_EQ(::chmod((root_ / "step-00000001/model.safetensors").c_str(), 0), 0);
  EXPECT_FALSE(select(root_)) << "the run would start over";
}

// A look that set the newest aside, and then found that the next cannot be read just now.
TEST_F(Failure, LatestIsMendedByTheNextLookWhenOneCouldNotChoose) {
  fs::rename(root_ / "step-00000002", root_ / "step-00000002.corrupt-1");
  const auto selection = select(root_);
  ASSERT_TRUE(selection && selection->chosen);
  EXPECT_EQ(selection->chosen->step, 1);
  EXPECT_EQ(read_bytes(root_ / "latest"), "step-00000001\n");
}

}  // namespace
}  // namespace trainward::checkpoint
