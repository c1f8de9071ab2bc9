// What a program prints, told by the child of a stage.
#include <gmock/gmock.h>

#include <cerrno>
#include <csignal>
#include <random>

#include "fake_host.hpp"
#include "hwprobe/stages/probe_output.hpp"
#include "hwprobe/stages/run_stages.hpp"

namespace trainward::hwprobe {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

class ProgramOutputs : public FakeHost {
 protected:
  StageResult ask(const std::vector<std::string>& words, std::size_t most = 1 << 20,
                  milliseconds deadline = milliseconds(20'000)) {
    Stage stage;
    stage.name = "ask";
    stage.deadline = deadline;
    stage.body = [=](const std::string&, const Emit& emit) {
      return emit_output(words, most, emit);
    };
    return run_stages({"a"}, std::vector<Stage>{stage}, folder_, processes_).front().stages.front();
  }
  StageResult shell(const std::string& script, std::size_t most = 1 << 20) {
    return ask({"sh", "-c", script}, most);
  }
  Processes processes_;
};

TEST_F(ProgramOutputs, BothStreamsAndTheExitCode) {
  const StageResult result = shell("echo out; echo err >&2; exit 7");
  EXPECT_EQ(result.ending, Ending::finished);
  const ProgramOutput said = program_output(result.readings);
  EXPECT_EQ(said.error, "");
  EXPECT_EQ(said.output, "out\n");
  EXPECT_EQ(said.complaint, "err\n");
  EXPECT_EQ(said.exit, "7");
  EXPECT_EQ(program_output(shell("kill -SEGV $$").readings).exit, "signal 11");
}

TEST_F(ProgramOutputs, APieceNeverEndsWithinACharacter) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 5; ++i) {
    std::string text;
    while (text.size() < 60'000) {
      for (const char* character : {"a", "°", "€", "😀"}) {
        if (random() % 2 == 0) text += character;
      }
    }
    const auto file = write("text", text);
    EXPECT_EQ(program_output(ask({"cat", file.string()}).readings).output, text);
  }
}

TEST_F(ProgramOutputs, OnlyTheEndOfALongComplaintIsKept) {
  const auto said =
      program_output(shell("yes complaint | head -c 100000 >&2; echo end >&2").readings);
  EXPECT_LE(said.complaint.size(), 1024U);
  EXPECT_THAT(said.complaint, testing::EndsWith("end\n"));
}

TEST_F(ProgramOutputs, AProgramThatIsNotThere) {
  const StageResult result = ask({"no-such-program-anywhere"});
  EXPECT_EQ(result.ending, Ending::finished);
  EXPECT_EQ(program_output(result.readings).error, "ENOENT");
  const auto file = write("not_a_program", "x");
  EXPECT_EQ(program_output(ask({file.string()}).readings).error, "EACCES");
}

TEST_F(ProgramOutputs, OneThatSaysTooMuchIsEnded) {
  const StageResult result = shell("exec yes", 10'000);
  EXPECT_EQ(result.ending, Ending::failed);
  EXPECT_THAT(result.detail, HasSubstr("says more than 10000 bytes"));
}

TEST_F(ProgramOutputs, OneThatHangsEndsWithItsStage) {
  // It names itself in a file, since a piece is only told when it is full.
  const auto file = folder_ / "pid";
  const StageResult result = ask({"sh", "-c", "echo $$ >" + file.string() + "; exec sleep 1000"},
                                 1 << 20, milliseconds(500));
  EXPECT_EQ(result.ending, Ending::deadline);
  pid_t pid = 0;
  std::ifstream(file) >> pid;
  ASSERT_GT(pid, 0);
  // The kernel ends it, at some time after the stage's child: wait for that, and for no longer.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const auto state = [&] {
    std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
    std::string number;
    std::string name;
    std::string word;
    in >> number >> name >> word;
    return word.empty() ? "gone" : word;
  };
  while (state() != "gone" && state() != "Z" && std::chrono::steady_clock::now() < end) {
  }
  EXPECT_THAT(state(), testing::AnyOf("gone", "Z"));
}

}  // namespace
}  // namespace trainward::hwprobe
