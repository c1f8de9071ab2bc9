// The real process: started, poked, killed where it hurts, and started again.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "common/os/fd.hpp"
#include "common/os/pipe.hpp"
#include "supervisor/courier/base/courier_journal.hpp"
#include "supervisor/orders/orders.hpp"
#include "supervisor/record/store/store.hpp"
#include "temporary_folder.hpp"

namespace trainward::courier {
namespace {

using testing::HasSubstr;

constexpr int patience_ms = 30'000;

class Process {
 public:
  explicit Process(std::vector<std::string> words, const std::string& fault = {}) {
    auto in = make_pipe().value();
    auto out = make_pipe().value();
    auto err = make_pipe().value();
    posix_spawn_file_actions_t actions{};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in.read.get(), 0);
    posix_spawn_file_actions_adddup2(&actions, out.write.get(), 1);
    posix_spawn_file_actions_adddup2(&actions, err.write.get(), 2);
    std::vector<std::string> variables;
    for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
    if (!fault.empty()) variables.push_back("TRAINWARD_FAULT=" + fault);
    const auto pointers = [](std::vector<std::string>& list) {
      std::vector<char*> result;
      for (auto& word : list) result.push_back(word.data());
      result.push_back(nullptr);
      return result;
    };
    EXPECT_EQ(::posix_spawn(&pid_, words[0].c_str(), &actions, nullptr, pointers(words).data(),
                            pointers(variables).data()),
              0);
    posix_spawn_file_actions_destroy(&actions);
    input_ = std::move(in.write);
    output_ = std::move(out.read);
    error_ = std::move(err.read);
  }
  ~Process() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void write(const std::string& text) const {
    // It may have been killed meanwhile.
    std::size_t done = 0;
    while (done < text.size()) {
      const auto put = ::write(input_.get(), text.data() + done, text.size() - done);
      if (put <= 0) return;
      done += static_cast<std::size_t>(put);
    }
  }
  void close_input() { input_.reset(); }
  void signal(int number) const { ::kill(pid_, number); }
  [[nodiscard]] pid_t pid() const { return pid_; }

  // Whether it said so on stderr, at last; false at its end.
  bool says(const std::string& text) { return read_until(error_, said_, text); }
  bool prints(const std::string& text) { return read_until(output_, printed_, text); }
  [[nodiscard]] const std::string& said() const { return said_; }

  // Exit code, or the negative number of the signal.
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  static bool read_until(const Fd& from, std::string& text, const std::string& wanted) {
    while (text.find(wanted) == std::string::npos) {
      pollfd watched{from.get(), POLLIN, 0};
      if (::poll(&watched, 1, patience_ms) <= 0) return false;
      std::array<char, 4096> bytes{};
      const auto got = ::read(from.get(), bytes.data(), bytes.size());
      if (got <= 0) return false;
      text.append(bytes.data(), static_cast<std::size_t>(got));
    }
    return true;
  }

  pid_t pid_ = 0;
  Fd input_;
  Fd output_;
  Fd error_;
  std::string printed_;
  std::string said_;
};

class CourierProcess : public testing::Test {
 protected:
  CourierProcess() {
    std::signal(SIGPIPE, SIG_IGN);
    (void)store::Store::open(folder_.path() / "trainward.db").value();
  }
  [[nodiscard]] std::string orders() const {
    orders::Orders orders;
    orders.state_dir = folder_.path().string();
    orders.database = (folder_.path() / "trainward.db").string();
    return line_of(orders) + "\n";
  }
  [[nodiscard]] std::unique_ptr<Process> start(const std::string& kind,
                                               const std::string& fault = {}) const {
    auto process = std::make_unique<Process>(std::vector<std::string>{TEST_COURIER, kind}, fault);
    process->write(orders());
    return process;
  }
  [[nodiscard]] static std::string file_of(pid_t pid, const std::string& name) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/" + name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  TemporaryFolder folder_;
};

const std::string real = std::string(PROGRAMS) + "/trainward-courier";

TEST_F(CourierProcess, EndsWithItsInput) {
  Process process({real});
  process.write(orders());
  EXPECT_TRUE(process.prints("alive\n"));
  process.close_input();
  EXPECT_EQ(process.wait(), 0);
}

TEST_F(CourierProcess, EndsWhenAskedTo) {
  const auto process = start("works");
  ASSERT_TRUE(process->says("called 1\n"));
  process->signal(SIGINT);  // of a terminal, which means the daemon
  process->write("\n");
  ASSERT_TRUE(process->says("called 2\n"));
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0);
}

TEST_F(CourierProcess, WrongOrdersAreRefusedForGood) {
  for (const std::string& text :
       {std::string("\n"), std::string("{\n"), std::string("{\"state_dir\":\"x\"}\n"),
        std::string("{\"state_dir\":\"/s\"}\n"), std::string(2'000'000, 'x')}) {
    Process process({real});
    process.write(text);
    EXPECT_EQ(process.wait(), 78) << text.substr(0, 40);
    EXPECT_TRUE(process.says("E the orders are wrong: "));
  }
}

// Whoever started it says so in `status`, and starts it again.
TEST_F(CourierProcess, AJournalThatCannotBeOpenedEndsIt) {
  // Nothing can be set aside in there.
  std::filesystem::create_directories(folder_.path() / "courier.db" / "not empty");
  std::filesystem::create_directories(folder_.path() / "courier.db-wal");
  Process process({real});
  process.write(orders());
  ASSERT_TRUE(process.says("E cannot begin: ")) << process.said();
  EXPECT_EQ(process.wait(), 75);
}

TEST_F(CourierProcess, WhoStartsItByHandIsToldWhatItIs) {
  Process process({real, "nonsense"});
  EXPECT_EQ(process.wait(), 2);
  EXPECT_TRUE(process.says("trainwardd"));
}

TEST_F(CourierProcess, AJobThatHangsDoesNotKeepItFromItsEnd) {
  const auto process = start("hangs");
  ASSERT_TRUE(process->says("I hangs\n"));
  EXPECT_TRUE(process->prints("alive\n"));
  process->close_input();
  EXPECT_EQ(process->wait(), 0);
  EXPECT_TRUE(process->says("left a receiver behind"));
}

TEST_F(CourierProcess, IsCalledWhenPoked) {
  const auto process = start("works");
  for (int i = 1; i < 10; ++i) {
    ASSERT_TRUE(process->says("called " + std::to_string(i) + "\n"));
    process->write("\n");
  }
}

TEST_F(CourierProcess, TwoNeverWorkAtOnce) {
  const auto first = start("works");
  ASSERT_TRUE(first->says("called 1\n"));
  const auto second = start("works");
  ASSERT_TRUE(second->says("I waits until the courier before it has ended\n"));
  EXPECT_TRUE(second->prints("alive\n")) << "who waits is well";
  EXPECT_THAT(second->said(), testing::Not(HasSubstr("called")));
  first->signal(SIGKILL);
  EXPECT_EQ(first->wait(), -SIGKILL);
  EXPECT_TRUE(second->says("called 1\n"));
}

TEST_F(CourierProcess, OneThatIsStoppedKeepsItsPlace) {
  const auto first = start("works");
  ASSERT_TRUE(first->says("called 1\n"));
  first->signal(SIGSTOP);
  const auto second = start("works");
  ASSERT_TRUE(second->says("I waits until"));
  second->close_input();
  EXPECT_EQ(second->wait(), 0) << "who waits ends when asked to";
}

TEST_F(CourierProcess, IsInNobodysWayAndLeavesNoCore) {
  const auto process = start("works");
  ASSERT_TRUE(process->says("called 1\n"));
  EXPECT_THAT(file_of(process->pid(), "limits"),
              testing::ContainsRegex("Max core file size +0 +0 "));
  EXPECT_EQ(file_of(process->pid(), "oom_score_adj"), "500\n");
  EXPECT_EQ(::getpriority(PRIO_PROCESS, static_cast<id_t>(process->pid())), 10);
}

// Each number is committed once, and the next begins where the last ended, wherever it is killed.
TEST_F(CourierProcess, WhateverItIsKilledInTheJournalIsRight) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::vector<std::string> points = {"courier.ordered", "courier.leased", "courier.job",
                                           "courier.before_commit", "courier.after_commit"};
  std::int64_t before = 0;
  for (int i = 0; i < 40; ++i) {
    const bool once = i % 5 < 2;  // passed once in a life
    const std::string point = points[static_cast<std::size_t>(i % 5)];
    const std::string fault = once ? point : point + ":" + std::to_string(1 + random() % 8);
    const auto process = start("counts", fault);
    EXPECT_EQ(process->wait(), -SIGKILL) << fault;
    auto db =
        store::Connection::open(folder_.path() / journal_name, store::Connection::Mode::read_write);
    if (!db && i % 5 < 2) continue;  // not made yet
    ASSERT_TRUE(db.has_value()) << db.error().message();
    std::int64_t rows = 0;
    std::int64_t last = 0;
    const auto read = (*db)->each("select count(*), coalesce(max(number), 0) from numbers",
                                  [&](const store::Row& row) {
                                    rows = row.integer(0);
                                    last = row.integer(1);
                                  });
    if (!read && before == 0) continue;  // killed before the table was
    ASSERT_TRUE(read.has_value()) << read.error().message();
    EXPECT_EQ(rows, last);
    EXPECT_GE(last, before) << "what was committed stays";
    before = last;
  }
  EXPECT_GT(before, 0);
}

}  // namespace
}  // namespace trainward::courier
