// Real children. Where a test has to wait it waits for what it expects; a deadline is only reached
// by what really hangs.
#include "hwprobe/stages/run_stages.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

#include "fake_host.hpp"
#include "hwprobe/stages/board_state.hpp"
#include "hwprobe/stages/live_files.hpp"

namespace trainward::hwprobe {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr milliseconds long_deadline{20'000};  // nobody is to reach it
constexpr milliseconds short_deadline{400};    // time enough for what comes before the hanging

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

// Children that nobody has waited for, running or not.
bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) >= 0; }

// The kernel holds every child, until it lets go: waiting for one says that it runs.
class HoldingKernel : public Processes {
 public:
  Waited wait(pid_t child) override {
    if (holding) {
      held.insert(child);
      return {};
    }
    return Processes::wait(child);
  }
  bool holding = true;
  std::set<pid_t> held;
};

class Stages : public FakeHost {
 protected:
  void SetUp() override {
    state_ = folder_ / "state";
    std::filesystem::create_directory(state_);
    descriptors_ = open_descriptors();
  }
  void TearDown() override {
    EXPECT_EQ(open_descriptors(), descriptors_);
    EXPECT_FALSE(has_children());
  }

  static Stage stage(Stage::Body body, milliseconds deadline = long_deadline) {
    return {"look", deadline, std::move(body), nullptr};
  }
  static Stage talker() {
    return stage([](const std::string& board, const Emit& emit) -> Status {
      emit({"file /name", board, ""});
      return {};
    });
  }
  // Says one thing, then reads a FIFO that nobody writes.
  Stage hanging(milliseconds deadline = short_deadline) {
    const auto fifo = folder_ / "fifo";
    ::mkfifo(fifo.c_str(), 0600);
    return stage(
        [fifo](const std::string&, const Emit& emit) -> Status {
          LiveFiles live("/", nullptr);
          emit({"file /first", "1", ""});
          emit(live.answer("file", fifo.string()));
          return {};
        },
        deadline);
  }

  std::vector<BoardLook> run(const std::vector<std::string>& boards,
                             const std::vector<Stage>& stages) {
    return run_stages(boards, stages, state_, processes_, limits_);
  }
  StageResult only(const Stage& stage) {
    const auto looks = run({"b"}, {stage});
    EXPECT_EQ(looks.size(), 1U);
    EXPECT_EQ(looks.at(0).stages.size(), 1U);
    return looks.at(0).stages.at(0);
  }
  std::optional<LeftChild> left(const std::string& board = "b") {
    const auto state = BoardState::take(state_, board);
    EXPECT_TRUE(state && *state);
    return (*state)->left();
  }

  std::filesystem::path state_;
  Processes processes_;
  RunLimits limits_;
  std::size_t descriptors_ = 0;
};

TEST_F(Stages, EveryBoardSaysItsOwn) {
  const auto looks = run({"a", "b", "c"}, {talker(), talker()});
  ASSERT_EQ(looks.size(), 3U);
  for (const BoardLook& look : looks) {
    ASSERT_EQ(look.stages.size(), 2U);
    for (const StageResult& result : look.stages) {
      EXPECT_EQ(result.stage, "look");
      EXPECT_EQ(result.ending, Ending::finished);
      EXPECT_THAT(result.readings, ElementsAre(Reading{"file /name", look.board, ""}));
    }
    EXPECT_FALSE(left(look.board));
  }
  EXPECT_EQ(looks[1].board, "b");
  EXPECT_TRUE(run({}, {talker()}).empty());
}

TEST_F(Stages, BoardsAreLookedAtAtTheSameTime) {
  const auto fifo = folder_ / "meeting";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  // Opening one end waits for the other: both come back only when both children are there.
  const auto looks = run(
      {"reader", "writer"}, {stage([fifo](const std::string& board, const Emit& emit) -> Status {
        const Fd fd(::open(fifo.c_str(), board == "reader" ? O_RDONLY : O_WRONLY));
        emit({"file /met", fd ? "yes" : "no", ""});
        return {};
      })});
  for (const BoardLook& look : looks) {
    EXPECT_THAT(look.stages.at(0).readings, ElementsAre(Reading{"file /met", "yes", ""}));
  }
}

TEST_F(Stages, AReadThatNeverAnswersEndsAtTheDeadlineAndWhatWasReadIsKept) {
  const StageResult result = only(hanging());
  EXPECT_EQ(result.ending, Ending::deadline);
  EXPECT_THAT(result.readings, ElementsAre(Reading{"file /first", "1", ""}));
  EXPECT_GE(result.took_ms, short_deadline.count());
  EXPECT_FALSE(left());
}

TEST_F(Stages, ManyHangingBoardsTakeNoLongerThanOne) {
  std::vector<std::string> boards;
  for (int i = 0; i < 16; ++i) boards.push_back("b" + std::to_string(i));
  const auto looks = run(boards, {hanging(milliseconds(500))});
  for (const BoardLook& look : looks) {
    EXPECT_EQ(look.stages.at(0).ending, Ending::deadline);
    EXPECT_LT(look.stages.at(0).took_ms, 16 * 500 / 2);
  }
}

TEST_F(Stages, AStoppedChildIsEndedToo) {
  const StageResult result = only(stage(
      [](const std::string&, const Emit&) -> Status {
        ::raise(SIGSTOP);
        return {};
      },
      short_deadline));
  EXPECT_EQ(result.ending, Ending::deadline);
}

TEST_F(Stages, AChildThatClosesItsEndButStaysIsEnded) {
  const StageResult result = only(stage(
      [](const std::string&, const Emit&) -> Status {
        ::close(3);
        ::pause();
        return {};
      },
      short_deadline));
  EXPECT_EQ(result.ending, Ending::deadline);
}

TEST_F(Stages, ABusErrorHasItsOwnEnding) {
  const auto file = write("short", "");
  const StageResult result = only(stage([file](const std::string&, const Emit& emit) -> Status {
    const Fd fd(::open(file.c_str(), O_RDONLY));
    const auto* word = static_cast<volatile std::uint32_t*>(
        ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd.get(), 0));
    emit({"bar 0x0", "about to", ""});
    emit({"bar 0x0", std::to_string(*word), ""});  // beyond the end of the file
    return {};
  }));
  EXPECT_EQ(result.ending, Ending::bus_error);
  EXPECT_THAT(result.readings, ElementsAre(Reading{"bar 0x0", "about to", ""}));
}

TEST_F(Stages, FailuresSayWhy) {
  StageResult result = only(stage([](const std::string&, const Emit&) -> Status {
    return fail(ErrorKind::permanent, "no such card", "here");
  }));
  EXPECT_EQ(result.ending, Ending::failed);
  EXPECT_EQ(result.detail, "here: no such card");
  EXPECT_TRUE(result.readings.empty());

  result = only(
      stage([](const std::string&, const Emit&) -> Status { throw std::runtime_error("thrown"); }));
  EXPECT_EQ(result.ending, Ending::failed);
  EXPECT_EQ(result.detail, "thrown");

  result = only(stage([](const std::string&, const Emit&) -> Status { ::_exit(9); }));
  EXPECT_EQ(result.ending, Ending::failed);
  EXPECT_THAT(result.detail, HasSubstr("exit code 9"));

  result = only(stage([](const std::string&, const Emit&) -> Status {
    ::raise(SIGTERM);
    return {};
  }));
  EXPECT_EQ(result.ending, Ending::crashed);
  EXPECT_THAT(result.detail, HasSubstr("signal 15"));
}

TEST_F(Stages, AFloodIsCutOff) {
  const StageResult result = only(stage([](const std::string&, const Emit& emit) -> Status {
    for (;;) emit({"file /a", std::string(1000, 'x'), ""});
  }));
  EXPECT_EQ(result.ending, Ending::failed);
  EXPECT_THAT(result.detail, HasSubstr("4 MiB"));
  EXPECT_LT(result.readings.size(), 10'000U);
}

TEST_F(Stages, NonsenseInThePipeIsLeftOut) {
  const StageResult result = only(stage([](const std::string&, const Emit& emit) -> Status {
    const std::string nonsense =
        std::string("\0\xff nonsense\n", 12) + std::string(200'000, 'x') + "\nfile /cut \\q";
    emit({"file /a", "1", ""});
    if (::write(3, nonsense.data(), nonsense.size()) < 0) ::_exit(1);
    emit({"file /b", "2", ""});
    emit({"file /c", "3", ""});
    return {};
  }));
  EXPECT_EQ(result.ending, Ending::finished);
  EXPECT_THAT(result.readings,
              ElementsAre(Reading{"file /a", "1", ""}, Reading{"file /c", "3", ""}));
}

TEST_F(Stages, AChildHasNothingOpenButItsPipe) {
  const auto looks = run({"a", "b"}, {stage([](const std::string&, const Emit& emit) -> Status {
                           for (int fd = 0; fd < 64; ++fd) {
                             std::error_code error;
                             const auto target = std::filesystem::read_symlink(
                                 "/proc/self/fd/" + std::to_string(fd), error);
                             if (!error) emit({"link " + std::to_string(fd), target.string(), ""});
                           }
                           return {};
                         })});
  for (const BoardLook& look : looks) {
    const auto& readings = look.stages.at(0).readings;
    ASSERT_EQ(readings.size(), 4U);
    for (int fd = 0; fd < 3; ++fd) EXPECT_EQ(readings.at(fd).value, "/dev/null");
    EXPECT_THAT(readings.at(3).value, HasSubstr("pipe:"));
  }
}

TEST_F(Stages, NoOtherStageFollowsOneThatDidNotFinish) {
  const auto looks = run({"b"}, {talker(), hanging(), talker()});
  ASSERT_EQ(looks.at(0).stages.size(), 2U);
  EXPECT_EQ(looks[0].stages[1].ending, Ending::deadline);
}

TEST_F(Stages, AStageMayDecideByWhatCameBefore) {
  Stage only_b = talker();
  only_b.name = "b only";
  only_b.when = [](const std::string& board, const std::vector<StageResult>& before) {
    return board == "b" && before.size() == 1;
  };
  const auto looks = run({"a", "b"}, {talker(), only_b});
  EXPECT_EQ(looks.at(0).stages.size(), 1U);
  ASSERT_EQ(looks.at(1).stages.size(), 2U);
  EXPECT_EQ(looks[1].stages[1].stage, "b only");
}

TEST_F(Stages, AChildThatOutlivesSigkillIsLeftAndRememberedAndReapedLater) {
  HoldingKernel kernel;
  limits_.kill_grace = milliseconds(50);
  const auto look = [&](const Stage& stage) {
    const auto looks =
        run_stages({"b", "other"}, std::vector<Stage>{stage}, state_, kernel, limits_);
    EXPECT_EQ(looks.at(0).stages.size(), 1U);
    return looks.at(0).stages.at(0);
  };
  StageResult result = look(hanging());
  EXPECT_EQ(result.ending, Ending::stuck_in_kernel);
  EXPECT_THAT(result.detail, HasSubstr("outlives SIGKILL"));
  EXPECT_THAT(result.readings, ElementsAre(Reading{"file /first", "1", ""}));
  ASSERT_EQ(kernel.held.size(), 2U);
  const auto remembered = left();
  ASSERT_TRUE(remembered);
  EXPECT_TRUE(remembered->killed);
  EXPECT_EQ(remembered->stage, "look");
  EXPECT_EQ(kernel.held.count(remembered->process.pid), 1U);

  // As often as somebody looks: no second child, and an answer at once.
  for (int i = 0; i < 3; ++i) {
    const auto marker = folder_ / "started";
    result = look(stage([marker](const std::string&, const Emit&) -> Status {
      std::ofstream(marker) << "x";
      return {};
    }));
    EXPECT_EQ(result.ending, Ending::stuck_in_kernel);
    EXPECT_THAT(result.detail, HasSubstr("process " + std::to_string(remembered->process.pid)));
    EXPECT_FALSE(std::filesystem::exists(marker));
  }
  EXPECT_EQ(kernel.held.size(), 2U);
  EXPECT_TRUE(has_children());

  kernel.holding = false;
  result = look(talker());
  EXPECT_EQ(result.ending, Ending::finished);
  EXPECT_FALSE(left());
}

TEST_F(Stages, AProbeThatWasKilledTakesItsChildrenAlong) {
  const pid_t probe = ::fork();
  if (probe == 0) {
    Stage stage = hanging(long_deadline);
    run_stages({"b"}, std::vector<Stage>{stage}, state_, processes_, limits_);
    ::_exit(0);
  }
  // The child opens the FIFO, so a writer gets in: then it is running, and its probe has noted it.
  ::mkfifo((folder_ / "fifo").c_str(), 0600);
  const Fd writer(::open((folder_ / "fifo").c_str(), O_WRONLY));
  ASSERT_TRUE(writer);
  std::string noted;
  while (!noted.ends_with("}\n")) {
    std::ifstream in(state_ / "b");
    noted.assign(std::istreambuf_iterator<char>(in), {});
  }
  ::kill(probe, SIGKILL);
  ASSERT_EQ(::waitpid(probe, nullptr, 0), probe);
  EXPECT_EQ(only(talker()).ending, Ending::finished);
}

TEST_F(Stages, AnEarlierChildThatStillRunsIsGivenAMomentOnly) {
  limits_.kill_grace = milliseconds(50);
  std::array<int, 2> hold{};
  ASSERT_EQ(::pipe(hold.data()), 0);
  const pid_t sleeper = ::fork();
  if (sleeper == 0) {
    char c = 0;
    ::close(hold[1]);
    ::_exit(::read(hold[0], &c, 1) == 0 ? 0 : 1);
  }
  ::close(hold[0]);
  const auto id = identify(sleeper);
  ASSERT_TRUE(id);
  {
    auto state = BoardState::take(state_, "b");
    ASSERT_TRUE(state && *state);
    ASSERT_TRUE((*state)->remember({*id, "pci", 1'700'000'000'000, false}));
  }
  const StageResult result = only(talker());
  EXPECT_EQ(result.ending, Ending::stuck_in_kernel);
  EXPECT_THAT(result.detail, HasSubstr("stage 'pci'"));
  EXPECT_TRUE(left()->killed);
  ::close(hold[1]);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, sleeper, &ended, WEXITED | WNOWAIT), 0);
  // It ended, a zombie of ours: reaped by the look that finds it.
  EXPECT_EQ(only(talker()).ending, Ending::finished);
}

TEST_F(Stages, AnotherProcessWithTheSameNumberIsNotTheEarlierChild) {
  auto self = identify(::getpid());
  ASSERT_TRUE(self);
  for (const bool other_boot : {true, false}) {
    ProcessId id = *self;
    if (other_boot) {
      id.boot = "another";
    } else {
      ++id.start_ticks;
    }
    {
      auto state = BoardState::take(state_, "b");
      ASSERT_TRUE((*state)->remember({id, "pci", 0, true}));
    }
    EXPECT_EQ(only(talker()).ending, Ending::finished);
  }
}

TEST_F(Stages, ADamagedMemoryIsNoMemory) {
  for (const char* text : {"{", "[]", "{\"pid\":0}", "{\"pid\":-1,\"start\":1,\"boot\":\"\"}",
                           "{\"pid\":99999999999,\"start\":1,\"boot\":\"\"}"}) {
    write("state/b", text);
    EXPECT_EQ(only(talker()).ending, Ending::finished) << text;
  }
  write("state/b", std::string(100'000, '{'));
  EXPECT_EQ(only(talker()).ending, Ending::finished);
}

TEST_F(Stages, OneProbeABoardAtATime) {
  limits_.lock_wait = milliseconds(50);
  const auto held = BoardState::take(state_, "b");
  ASSERT_TRUE(held && *held);
  const auto looks = run({"b", "free"}, {talker()});
  EXPECT_EQ(looks.at(0).stages.at(0).ending, Ending::locked);
  EXPECT_EQ(looks.at(1).stages.at(0).ending, Ending::finished);
}

TEST_F(Stages, AProbeWaitsForTheOneBefore) {
  // Twice the same board: the second gets its turn when the first is done.
  const auto looks = run({"b", "b"}, {talker()});
  EXPECT_EQ(looks.at(0).stages.at(0).ending, Ending::finished);
  EXPECT_EQ(looks.at(1).stages.at(0).ending, Ending::finished);
}

TEST_F(Stages, WithoutAStateFolderNothingIsStarted) {
  const auto looks = run_stages({"b", "../b", ""}, std::vector<Stage>{talker()}, folder_ / "none",
                                processes_, limits_);
  for (const BoardLook& look : looks) {
    EXPECT_EQ(look.stages.at(0).ending, Ending::not_started);
    EXPECT_FALSE(look.stages.at(0).detail.empty());
  }
}

}  // namespace
}  // namespace trainward::hwprobe
