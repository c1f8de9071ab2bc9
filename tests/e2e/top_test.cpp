// trainwardctl top in a real terminal, with a daemon and without one.
#include <gmock/gmock.h>

#include "terminal_program.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Top : public World {
 protected:
  // What a daemon that has ended leaves behind.
  void leave_a_database() {
    ASSERT_TRUE(make_folders(path(".trainward")).has_value());
    auto store = store::Store::open(path(".trainward/trainward.db"));
    ASSERT_TRUE(store.has_value());
    auto transaction = store->begin(store::Store::Survives::process);
    ASSERT_TRUE(transaction.has_value());
    for (const char* name : {"broken", "trainer"}) {
      store::ProgramRow program;
      program.name = name;
      program.state = "STOPPED";
      program.reason = "\x1b[2Jasked for";
      program.changed_ms = 1'763'675'000'000;
      ASSERT_TRUE(store->put_program(program).has_value());
      store::AttemptRow attempt;
      attempt.program = name;
      attempt.number = 1;
      attempt.intended_ms = attempt.started_ms = 1'763'674'000'000;
      ASSERT_TRUE(store->put_attempt(attempt).has_value());
      for (std::int64_t step = 1; step <= 200; ++step) {
        store::StepRow row;
        row.step = step;
        row.attempt = 1;
        row.loss = 2.0 + 1.0 / static_cast<double>(step);
        row.at_ms = 1'763'674'000'000 + step;
        ASSERT_TRUE(store->add_step(name, row).has_value());
      }
      ASSERT_TRUE(
          store->add_event({0, 1'763'674'000'000, name, 1, "launch", "it went"}).has_value());
    }
    ASSERT_TRUE(transaction->commit().has_value());
  }

  std::vector<std::string> top(std::vector<std::string> more = {}) {
    std::vector<std::string> argv{program("trainwardctl"), "top"};
    argv.insert(argv.end(), more.begin(), more.end());
    return argv;
  }
  inline static const std::vector<std::string> utf8{"TERM=xterm", "LC_ALL=C.UTF-8", "NO_COLOR="};
};

TEST_F(Top, EndsByKeyAndBySignalAndLeavesTheTerminalAsItWas) {
  leave_a_database();
  struct Way {
    const char* name;
    std::function<void(TerminalProgram&)> go;
    int code;
  };
  const auto send = [](int signal) {
    return [signal](TerminalProgram& top) { ::kill(top.pid(), signal); };
  };
  const std::vector<Way> ways{
      {"q", [](TerminalProgram& top) { top.type("q"); }, 0},
      {"Ctrl-C", [](TerminalProgram& top) { top.type("\x03"); }, 130},
      {"q in help", [](TerminalProgram& top) { top.type("?q"); }, 0},
      {"SIGINT", send(SIGINT), 130},
      {"SIGTERM", send(SIGTERM), 143},
      {"SIGHUP", send(SIGHUP), 129},
      {"SIGQUIT", send(SIGQUIT), 131},
  };
  for (const Way& way : ways) {
    SCOPED_TRACE(way.name);
    TerminalProgram top(this->top(), folder_.path(), 80, 24, utf8);
    top.read_until_shown("q quit");
    EXPECT_TRUE(top.is_taken_over());
    way.go(top);
    EXPECT_EQ(top.end(), way.code);
    EXPECT_EQ(top.not_restored(), "");
  }
}

TEST_F(Top, EndsWhenItsTerminalIsGone) {
  leave_a_database();
  TerminalProgram top(this->top(), folder_.path(), 80, 24, utf8);
  top.read_until_shown("q quit");
  top.hang_up();
  EXPECT_EQ(top.end_without_terminal(), 129);
}

TEST_F(Top, CtrlZGivesTheTerminalBackAndFgTakesItAgain) {
  leave_a_database();
  // A shell with jobs, as a user has one; a word between shows that it has the terminal.
  const std::string script =
      program("trainwardctl") + " top; echo stopped $?; read x; fg; echo over $?";
  TerminalProgram shell({"/bin/bash", "-mc", script}, folder_.path(), 80, 24, utf8);
  shell.read_until_shown("q quit");
  shell.type("\x1a");
  shell.read_until_shown("stopped 148");
  EXPECT_FALSE(shell.screen.other_screen);
  EXPECT_TRUE(shell.screen.cursor);
  shell.type("\n");
  shell.read_until_shown("q quit");
  EXPECT_TRUE(shell.is_taken_over());
  shell.type("q");
  shell.read_until_shown("over 0");
  EXPECT_EQ(shell.end(), 0);
  EXPECT_EQ(shell.not_restored(), "");
}

TEST_F(Top, FollowsTheTerminalsSize) {
  leave_a_database();
  TerminalProgram top(this->top(), folder_.path(), 80, 24, utf8);
  top.read_until_shown("1-5 panes");
  top.resize(50, 12);
  top.read_until(
      [&] { return top.screen.height() == 12 && top.screen.line(11).starts_with("q quit"); });
  top.resize(120, 40);
  top.read_until(
      [&] { return top.screen.height() == 40 && top.screen.line(39).starts_with("q quit"); });
  top.resize(10, 3);
  top.read_until(
      [&] { return top.screen.height() == 3 && top.screen.line(2).starts_with("q quit"); });
  top.type("q");
  EXPECT_EQ(top.end(), 0);
  EXPECT_EQ(top.not_restored(), "");
}

TEST_F(Top, AnswersFromTheDatabaseAndSaysSo) {
  leave_a_database();
  TerminalProgram top(this->top({"trainer"}), folder_.path(), 100, 30, utf8);
  top.read_until_shown("trainwardd is not running; from the database");
  top.read_until_shown("1 curve");
  top.read_until_shown("it went");
  EXPECT_TRUE(top.screen.shows("?[2Jasked for")) << top.screen.text();
  top.type("s");
  top.read_until_shown("nothing can be started from here");
  top.type("q");
  EXPECT_EQ(top.end(), 0);
}

TEST_F(Top, WithoutATerminalItIsOneFrame) {
  leave_a_database();
  const Output once = ctl({"top", "trainer"});
  EXPECT_EQ(once.code, 0) << once.err;
  EXPECT_THAT(once.out, HasSubstr("trainer  STOPPED"));
  EXPECT_THAT(once.out, HasSubstr("it went"));
  EXPECT_THAT(once.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(once.err, HasSubstr("from the database"));
  const Output as_json = ctl({"--json", "top"});
  EXPECT_EQ(as_json.code, 0);
  EXPECT_TRUE(parse_json(as_json.out, "top").has_value()) << as_json.out;
  const Output unknown = ctl({"top", "nobody"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("no such program: nobody"));
}

TEST_F(Top, WithoutDaemonAndDatabaseItSaysWhatToDo) {
  TerminalProgram top(this->top(), folder_.path(), 80, 24, utf8);
  EXPECT_EQ(top.end(), 4);
  EXPECT_TRUE(top.screen.shows("trainwardd is not running, and there is")) << top.screen.text();
  EXPECT_EQ(top.not_restored(), "");
}

TEST_F(Top, WithoutColoursAndUtf8ItIsReadableAllTheSame) {
  leave_a_database();
  TerminalProgram top(this->top(), folder_.path(), 80, 24,
                      {"TERM=vt100", "LC_ALL=C", "NO_COLOR=1"});
  top.read_until_shown("1 curve");
  const std::string text = top.screen.text();
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x80;
  })) << text;
  top.type("q");
  EXPECT_EQ(top.end(), 0);
  EXPECT_EQ(top.not_restored(), "");
}

// A run that is watched, stopped, started and lost sight of.
TEST_F(Top, ShowsAndSteersARun) {
  write("worker.sh",
        "i=0; trap 'exit 0' TERM\n"
        "while :; do i=$((i+1)); echo \"step $i loss 0.$((1000 - i % 900))\"; sleep 0.05; done\n");
  write("run.yaml",
        "programs:\n  run: {command: [/bin/sh, worker.sh], backoff: {first: 20ms}, "
        "deadlines: {stop: 5s}}\n");
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return ctl({"status"}).out.find("step ") != std::string::npos; });
  {
    TerminalProgram top(this->top(), folder_.path(), 80, 24, utf8);
    top.read_until_shown("run  RUNNING");
    top.read_until([&] { return top.screen.text().find("step 1") != std::string::npos; });
    top.read_until_shown("stdout of attempt 1");
    top.type("t");
    top.read_until_shown("Stop run? ");
    top.read_until_shown("[y/n]");
    top.type("n");
    top.read_until_shown("nothing was done");
    EXPECT_EQ(state(), "RUNNING");
    top.type("t");
    top.read_until_shown("[y/n]");
    top.type("y");
    top.read_until_shown("run  STOPPED");
    top.read_until_shown("trainwardctl start run");
    top.type("s");
    top.read_until_shown("[y/n]");
    top.type("y");
    top.read_until_shown("run  RUNNING");
    // The daemon goes: what is known stays in sight, and that it is old is said.
    ask_to_end(daemon);
    EXPECT_EQ(end_of(daemon), 0) << daemon_log();
    top.read_until_shown("trainwardd is not running; from the database");
    top.read_until_shown("run  STOPPED");
    top.type("q");
    EXPECT_EQ(top.end(), 0);
    EXPECT_EQ(top.not_restored(), "");
  }
}

}  // namespace
}  // namespace trainward::e2e
