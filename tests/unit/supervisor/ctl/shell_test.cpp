// trainwardctl without a command: lines of standard input.
#include "supervisor/ctl/base/shell.hpp"

#include "fake_daemon.hpp"
#include "fixture.hpp"

namespace trainward::ctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Names words(const std::string& line) { return words_of_line(line).value(); }

TEST(WordsOfALine, ArePartedAtBlanks) {
  EXPECT_THAT(words("  stop  run\tother \r"), ElementsAre("stop", "run", "other"));
  EXPECT_THAT(words("ckpt pin 'a b' --reason \"it's best\""),
              ElementsAre("ckpt", "pin", "a b", "--reason", "it's best"));
  EXPECT_THAT(words("stop 'r'un"), ElementsAre("stop", "run"));
  EXPECT_THAT(words("status # all of them"), ElementsAre("status"));
  EXPECT_THAT(words("status a#b ''"), ElementsAre("status", "a#b", ""));
  EXPECT_THAT(words("# nothing"), IsEmpty());
  EXPECT_THAT(words(""), IsEmpty());
  EXPECT_FALSE(words_of_line("stop 'run"));
}

class ShellTest : public CtlTest {
 protected:
  ShellTest() {
    daemon_.answers("GET /v1/version", R"({"version":"0.1.0","api":1,"pid":4711})");
    daemon_.answers("GET /v1/programs",
                    R"([{"name":"a","state":"RUNNING","pid":11,"uptime_ms":1000}])");
  }
  [[nodiscard]] Ran typed(const std::string& lines, const Names& options = {}) const {
    std::istringstream in(lines);
    std::ostringstream out;
    std::ostringstream err;
    Terminal terminal{out, err, false, 0, Time{now_ms, 0}};
    terminal.in = &in;
    const int code = run(options, folder_, terminal);
    return {code, out.str(), err.str()};
  }
  FakeDaemon daemon_{socket()};
};

TEST_F(ShellTest, ACommandALine) {
  const Ran ran = typed("version\n\n# and\npid a\n");
  EXPECT_EQ(ran.out, "0.1.0\n11\n");
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.code, 0);
}

TEST_F(ShellTest, EndsWhereItIsToldTo) {
  EXPECT_EQ(typed("version\nexit\npid a\n").out, "0.1.0\n");
  EXPECT_EQ(typed("quit\nversion\n").out, "");
  EXPECT_EQ(typed("").code, 0);
}

TEST_F(ShellTest, GoesOnAfterAFailureAndTellsOfItAtTheEnd) {
  const Ran ran = typed("frobnicate\npid nope\nversion\n");
  EXPECT_EQ(ran.out, "0.1.0\n");
  EXPECT_THAT(ran.err, HasSubstr("unknown command 'frobnicate'"));
  EXPECT_EQ(ran.code, 1) << "of pid, the last that failed";
  EXPECT_THAT(typed("stop 'a\n").err, HasSubstr("a quote does not end"));
}

TEST_F(ShellTest, OptionsAreOfEveryCommand) {
  EXPECT_EQ(typed("version\npid\n", {"--json"}).out,
            "{\"version\":\"0.1.0\",\"api\":1,\"pid\":4711}\n{\"pid\":4711}\n");
  EXPECT_EQ(typed("version\n", {"--state-dir", "/none", "-s", socket().string()}).out, "0.1.0\n");
}

TEST_F(ShellTest, HelpIsACommand) {
  EXPECT_THAT(typed("help\n").out, HasSubstr("restart"));
  EXPECT_THAT(typed("help tail\n").out, HasSubstr("--follow"));
  EXPECT_EQ(typed("--json\n").code, 2) << "no shell in the shell";
}

}  // namespace
}  // namespace trainward::ctl
