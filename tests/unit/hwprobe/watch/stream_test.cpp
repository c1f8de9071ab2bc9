// trainward-probe --stream: real processes over fake trees.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <vector>

#include "common/os/fd.hpp"
#include "fake_host.hpp"
#include "hwprobe/watch/sample.hpp"

namespace trainward::hwprobe {
namespace {

using testing::HasSubstr;

class StreamTest : public FakeHost {
 protected:
  void TearDown() override {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  void start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {PROBE, "--stream"});
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    output_.reset(ends[0]);
    const Fd input(ends[1]);
    std::vector<char*> words;
    for (std::string& word : arguments) words.push_back(word.data());
    words.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(input.get(), STDOUT_FILENO);
      ::dup2(input.get(), STDERR_FILENO);
      ::execv(words[0], words.data());
      ::_exit(127);
    }
  }
  // Waits for it; empty at the end.
  std::string line() {
    std::string text;
    for (char c = 0; ::read(output_.get(), &c, 1) == 1;) {
      if (c == '\n') return text;
      text += c;
    }
    return text;
  }
  Sample sample() { return sample_from_json(parse_json(line(), "line").value()).value(); }
  int end() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  pid_t pid_ = 0;
  Fd output_;
};

TEST_F(StreamTest, ARoundIsALineABoardAndShowsWhatHasChanged) {
  for (const char* board : {"0000:c1:00.0", "0000:c2:00.0"}) {
    write(device(board) + "vendor", "0x1e52\n");
    write(node(board) + "tt_heartbeat", "1\n");
  }
  start({"10", "--root", folder_.string(), "0000:c2:00.0", "0000:c1:00.0"});
  EXPECT_EQ(sample().board, "0000:c2:00.0");
  EXPECT_EQ(sample().board, "0000:c1:00.0");
  const auto beat = folder_ / node("0000:c2:00.0") / "tt_heartbeat";
  std::filesystem::rename(write("beat", "2\n"), beat);
  for (;;) {
    const Sample next = sample();
    if (next.board == "0000:c2:00.0" && next.heartbeat == 2) break;
  }
  std::filesystem::remove_all(folder_ / device("0000:c1:00.0"));
  while (sample().present) {
  }
}

TEST_F(StreamTest, EndsWhenNobodyReadsHoweverLongTheIntervalIs) {
  const std::string host =
      write("host.yaml", "boards: [{serial: \"0100014511708037\"}]\n").string();
  start({"3600000", "--host", host, "0100014511708037"});
  EXPECT_EQ(sample().board, "0100014511708037");
  output_.reset();
  EXPECT_EQ(end(), 0);
}

TEST_F(StreamTest, ARoundThatHangsSaysNothingMoreAndCanBeEnded) {
  write(device("0000:c1:00.0") + "vendor", "0x1e52\n");
  const auto fifo = folder_ / device("0000:c1:00.0") / "aer_dev_fatal";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  start({"10", "--root", folder_.string(), "0000:c1:00.0"});
  pollfd readable{output_.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&readable, 1, 100), 0);
  ::kill(pid_, SIGKILL);
  EXPECT_EQ(line(), "");
  EXPECT_EQ(end(), -1);
}

TEST_F(StreamTest, SaysWhatItCannotDo) {
  const std::string host =
      write("host.yaml", "boards: [{serial: \"0100014511708037\"}]\n").string();
  const auto complains = [&](const std::vector<std::string>& arguments, const char* words) {
    start(arguments);
    EXPECT_THAT(line(), HasSubstr(words));
    EXPECT_EQ(end(), 3);
  };
  complains({"100"}, "needs the boards");
  complains({"5", "0000:c1:00.0"}, "--stream");
  complains({"100", "../../etc"}, "is no PCI address");
  complains({"100", "..:"}, "is no PCI address");
  complains({"100", "--host", host, "x"}, "describes no such board");
  complains({"100", "--host", host + "x", "x"}, "No such file");
  complains({"100", "--draw", "0000:c1:00.0"}, "goes with");
}

}  // namespace
}  // namespace trainward::hwprobe
