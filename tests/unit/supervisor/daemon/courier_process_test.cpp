// The daemon's hand on the courier: scripts stand for one that works, ends, hangs, or is not there.
#include "supervisor/daemon/courier/courier_process.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/os/fd.hpp"
#include "supervisor/daemon/loop/loop.hpp"
#include "supervisor/orders/orders.hpp"
#include "temporary_folder.hpp"

namespace trainward::daemon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class CourierProcessTest : public testing::Test {
 protected:
  // As the daemon does: a poke may meet one that has just ended.
  CourierProcessTest() { std::signal(SIGPIPE, SIG_IGN); }

  // A script that adds lines to `told` of this folder, which is $1's parent.
  CourierProcess::Settings settings(const std::string& script) const {
    CourierProcess::Settings settings;
    settings.program = folder_.path() / "trainward-courier";
    std::ofstream(settings.program) << "#!/bin/sh\ncd '" << folder_.path().string() << "'\n"
                                    << script << "\n";
    ::chmod(settings.program.c_str(), 0755);
    settings.first_pause_ms = 10;
    settings.longest_pause_ms = 20;
    settings.between_pokes_ms = 1;
    settings.end_ms = 60'000;
    return settings;
  }
  std::vector<std::string> told() const {
    std::ifstream file(folder_.path() / "told");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  // Looks again as long as the loop runs; the test's own time limit ends one that never comes true.
  void run_until(const std::function<bool()>& enough) {
    Timer again(loop_);
    std::function<void()> look = [&] {
      if (enough()) return loop_.stop();
      again.after(2, look);
    };
    again.after(0, look);
    loop_.run();
  }

  TemporaryFolder folder_;
  Loop loop_;
};

TEST_F(CourierProcessTest, ItGetsItsOrdersThenPokesAndEndsWithItsInput) {
  auto courier = std::make_unique<CourierProcess>(
      loop_, settings("read orders; echo \"$orders\" >> told; echo alive\n"
                      "while read poke; do echo \"poke$poke\" >> told; done; echo end >> told"));
  courier->give(R"({"channels":["night"]})");
  run_until([&] {
    courier->poke();
    const auto lines = told();
    if (courier && lines.size() >= 4) courier.reset();
    return !courier;
  });
  // It is told of its end after the daemon has gone.
  for (auto lines = told(); lines.back() != "end"; lines = told()) {
  }
  const auto lines = told();
  EXPECT_EQ(lines.front(), R"({"channels":["night"]})");
  EXPECT_EQ(lines[1], "poke");
}

TEST_F(CourierProcessTest, WithoutOrdersNoneRuns) {
  CourierProcess courier(loop_, settings("echo started >> told"));
  courier.give("");
  courier.poke();
  Timer soon(loop_);
  soon.after(50, [&] { loop_.stop(); });
  loop_.run();
  EXPECT_THAT(told(), ElementsAre());
  EXPECT_EQ(courier.trouble(), "");
}

TEST_F(CourierProcessTest, OrdersAsLongAsAPipeArrive) {
  CourierProcess courier(loop_, settings("read orders; echo ${#orders} >> told; cat > /dev/null"));
  courier.give(std::string(900'000, 'x'));
  run_until([&] { return !told().empty(); });
  EXPECT_THAT(told(), ElementsAre("900000"));
}

TEST_F(CourierProcessTest, LongerOrdersAreRefusedInWords) {
  CourierProcess courier(loop_, settings("echo started >> told"));
  courier.give(std::string(3'000'000, 'x'));
  run_until([&] { return !courier.trouble().empty(); });
  EXPECT_THAT(courier.trouble(), HasSubstr("3000000 bytes"));
  EXPECT_THAT(told(), ElementsAre());
}

TEST_F(CourierProcessTest, OneThatEndsIsStartedAgainAndItsLastWordsAreKept) {
  CourierProcess courier(loop_, settings("read orders; echo started >> told\n"
                                         "echo 'courier.db is damaged' >&2; exit 3"));
  courier.give("{}");
  run_until([&] { return told().size() >= 3 && !courier.trouble().empty(); });
  EXPECT_THAT(courier.trouble(), HasSubstr("exit code 3: courier.db is damaged"));
}

TEST_F(CourierProcessTest, OneThatWorkedInBetweenIsNotWaitedForLongerAndLonger) {
  auto with = settings(
      "read orders; echo started >> told\n"
      "echo alive; sleep 0.1; echo alive; exit 1");
  with.longest_pause_ms = 1'000'000;
  with.worked_ms = 50;
  CourierProcess courier(loop_, with);
  courier.give("{}");
  run_until([&] { return told().size() >= 16; });  // doubled each time it would take minutes
}

TEST_F(CourierProcessTest, OneThatIsNotThereIsSaidAndLookedForAgain) {
  auto with = settings("read orders; echo alive; echo here >> told; cat > /dev/null");
  const auto aside = folder_.path() / "aside";
  std::filesystem::rename(with.program, aside);
  CourierProcess courier(loop_, with);
  courier.give("{}");
  run_until([&] {
    if (courier.trouble().empty()) return false;
    EXPECT_THAT(courier.trouble(), HasSubstr("trainward-courier"));
    std::filesystem::rename(aside, with.program);
    return true;
  });
}

TEST_F(CourierProcessTest, ASignOfLifeClearsTheTrouble) {
  CourierProcess courier(loop_, settings("read orders\n"
                                         "if [ ! -e once ]; then touch once; exit 1; fi\n"
                                         "echo alive; cat > /dev/null"));
  courier.give("{}");
  bool failed = false;
  run_until([&] {
    failed = failed || !courier.trouble().empty();
    return failed && courier.trouble().empty();
  });
  EXPECT_TRUE(failed);
}

TEST_F(CourierProcessTest, OneThatFallsSilentIsEndedAndStartedAgain) {
  auto with = settings("echo $$ >> told; echo alive; exec sleep 1000");
  with.silence_ms = 30;
  with.farewell_ms = 20;
  CourierProcess courier(loop_, with);
  courier.give("{}");
  run_until([&] { return told().size() >= 2; });
  EXPECT_THAT(told()[0], Not(told()[1]));
}

TEST_F(CourierProcessTest, OtherOrdersEndItAndBeginTheNextWithThem) {
  CourierProcess courier(loop_, settings("read orders; echo \"$orders\" >> told; cat > /dev/null"));
  courier.give("first");
  bool given = false;
  run_until([&] {
    if (told().size() == 1 && !std::exchange(given, true)) {
      courier.give("first");  // changes nothing
      courier.give("second");
    }
    return told().size() == 2;
  });
  EXPECT_THAT(told(), ElementsAre("first", "second"));
}

TEST_F(CourierProcessTest, OneThatDoesNotEndWhenAskedIsKilled) {
  auto with = settings("read orders; echo \"$orders\" >> told; exec sleep 1000");
  with.end_ms = 20;
  with.farewell_ms = 20;
  CourierProcess courier(loop_, with);
  courier.give("first");
  bool given = false;
  run_until([&] {
    if (told().size() == 1 && !std::exchange(given, true)) courier.give("second");
    return told().size() == 2;
  });
  EXPECT_THAT(told(), ElementsAre("first", "second"));
  EXPECT_EQ(courier.trouble(), "");
}

// Not a script: the program that is shipped.
TEST_F(CourierProcessTest, TheRealOneTakesItsOrdersAndEndsWithItsInput) {
  orders::Orders orders;
  orders.state_dir = folder_.path().string();
  orders.database = (folder_.path() / "trainward.db").string();
  CourierProcess::Settings real;
  real.program = std::filesystem::path(PROGRAMS) / "trainward-courier";
  const auto free = [this] {
    const Fd lease(::open((folder_.path() / "courier.lock").c_str(), O_RDWR | O_CLOEXEC));
    return lease && ::flock(lease.get(), LOCK_EX | LOCK_NB) == 0;
  };
  auto courier = std::make_unique<CourierProcess>(loop_, real);
  courier->give(orders::line_of(orders));
  run_until([&] { return std::filesystem::exists(folder_.path() / "courier.db"); });
  EXPECT_EQ(courier->trouble(), "");
  EXPECT_FALSE(free());
  courier.reset();
  run_until(free);
}

}  // namespace
}  // namespace trainward::daemon
