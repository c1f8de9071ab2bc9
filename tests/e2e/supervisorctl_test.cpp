// What supervisorctl is used for, against a running daemon: by hand, in its shell, and by Ansible.
#include <gmock/gmock.h>
#include <pty.h>
#include <termios.h>

#include "world.hpp"

namespace trainward::e2e {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Supervisorctl : public World {
 protected:
  void SetUp() override {
    // Ends at no signal but those that nobody can ignore; says so of one.
    write("worker.sh",
          "trap 'echo got USR1' USR1\necho one; echo two >&2\nwhile :; do sleep 0.05; done\n");
    write_programs("  idle: {command: [/usr/bin/tail, -f, /dev/null], autostart: false}\n");
    daemon_ = start_daemon({"run.yaml"});
    wait_until([&] { return ctl({"tail", "run"}).out == "one\n"; });
  }
  void TearDown() override {
    if (daemon_ == 0) return;
    ::kill(daemon_, SIGTERM);
    EXPECT_EQ(end_of(daemon_), 0) << daemon_log();
  }
  void write_programs(const std::string& more) {
    write("run.yaml",
          "programs:\n  run: {command: [/bin/sh, worker.sh], backoff: {first: 20ms}, "
          "deadlines: {stop: 1s}}\n" +
              more);
  }
  pid_t daemon_ = 0;
};

TEST_F(Supervisorctl, ASignalReachesTheWorkerAndIsOnRecord) {
  EXPECT_EQ(ctl({"signal", "USR1", "run"}).out, "run: signalled\n");
  wait_until([&] { return ctl({"tail", "run"}).out == "one\ngot USR1\n"; });
  EXPECT_EQ(ctl({"signal", "USR1", "idle"}).code, 7);
  EXPECT_EQ(attempts().size(), 1U);
  EXPECT_EQ(ctl({"signal KILL", "run"}).code, 0);
  wait_until([&] { return attempts().size() > 1; });
  const Output why = ctl({"why", "run", "1"});
  EXPECT_THAT(why.out, HasSubstr("SIGKILL was sent by trainwardctl"));
  EXPECT_THAT(why.out, HasSubstr("The last lines of its stderr:\n  | two\n"));
}

TEST_F(Supervisorctl, ProgramsComeAndGoOneByOne) {
  EXPECT_EQ(ctl({"remove", "run"}).out, "ERROR: process/group still running: run\n");
  EXPECT_EQ(ctl({"remove", "idle"}).out, "idle: removed process group\n");
  EXPECT_EQ(ctl({"status", "idle"}).code, 4);
  EXPECT_THAT(ctl({"avail"}).out, HasSubstr("idle                             avail     manual"));
  EXPECT_EQ(ctl({"add", "idle"}).out, "idle: added process group\n");
  EXPECT_EQ(ctl({"add", "idle"}).out, "ERROR: process group already active\n");
  write_programs("  third: {command: [/usr/bin/tail, -f, /dev/null], autostart: false}\n");
  EXPECT_EQ(ctl({"update", "third"}).out, "third: added process group\n");
  EXPECT_EQ(ctl({"status", "idle"}).code, 3) << "it was not named, and is still here";
  EXPECT_EQ(ctl({"update", "third"}).out, "");
  EXPECT_EQ(ctl({"update", "idle"}).out, "idle: stopped\nidle: removed process group\n");
  EXPECT_EQ(ctl({"update", "idle"}).out, "ERROR: no such group: idle\n");
  EXPECT_EQ(ctl({"update"}).out, "");
  EXPECT_EQ(attempts().size(), 1U) << "nobody touched it";
}

TEST_F(Supervisorctl, ClearEmptiesTheLogsOfWhatIsOver) {
  const Output running = ctl({"clear", "run"});
  EXPECT_EQ(running.out, "run: cleared\n");
  EXPECT_THAT(running.err, HasSubstr("the logs of attempt 1, which runs, stay"));
  EXPECT_EQ(ctl({"tail", "run"}).out, "one\n");
  EXPECT_EQ(ctl({"stop", "run"}).code, 0);
  EXPECT_EQ(ctl({"clear", "all"}).out, "idle: cleared\nrun: cleared\n");
  EXPECT_EQ(ctl({"tail", "run"}).out, "");
  EXPECT_EQ(ctl({"tail", "run", "stderr"}).out, "");
}

TEST_F(Supervisorctl, MaintailIsWhatTheDaemonLogs) {
  const Output log = ctl({"maintail"});
  EXPECT_EQ(log.code, 0) << log.err;
  EXPECT_THAT(log.out, HasSubstr("run: launch: attempt 1"));
  EXPECT_EQ(ctl({"maintail", "-1"}).out, "\n");
}

TEST_F(Supervisorctl, WithoutADaemonTailReadsTheFiles) {
  EXPECT_EQ(ctl({"shutdown"}).code, 0);
  EXPECT_EQ(end_of(std::exchange(daemon_, 0)), 0);
  const Output tail = ctl({"tail", "run"});
  EXPECT_EQ(tail.code, 0) << tail.err;
  EXPECT_EQ(tail.out, "one\n");
  EXPECT_THAT(tail.err, HasSubstr("trainwardd is not running"));
  EXPECT_EQ(ctl({"tail", "-2", "run", "stderr"}).out, "o\n");
  EXPECT_NE(ctl({"tail", "nope"}).code, 0);
  EXPECT_NE(ctl({"tail", "../runs/run"}).code, 0) << "a name is no path";
}

// A terminal as a person sits at one.
class Terminal {
 public:
  Terminal(const std::string& program, const std::filesystem::path& folder) {
    pid_ = ::forkpty(&fd_, nullptr, nullptr, nullptr);
    if (pid_ != 0) return;
    ::setenv("TERM", "xterm", 1);
    ::setenv("NO_COLOR", "1", 1);
    if (::chdir(folder.c_str()) == 0) ::execl(program.c_str(), program.c_str(), nullptr);
    ::_exit(127);
  }
  ~Terminal() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    ::close(fd_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& keys) const {
    EXPECT_EQ(::write(fd_, keys.data(), keys.size()), std::ssize(keys));
  }
  // What is shown until `text` is, that included.
  std::string until(const std::string& text) {
    std::string shown;
    while (shown.find(text) == std::string::npos) {
      char byte = 0;
      if (::read(fd_, &byte, 1) != 1) return shown + " (and then it ended)";
      shown += byte;
    }
    return shown;
  }
  // Nobody but the program edits what is typed.
  [[nodiscard]] bool is_raw() const {
    struct termios now {};
    return ::tcgetattr(fd_, &now) == 0 && (now.c_lflag & (ICANON | ISIG)) == 0;
  }
  int end() {
    char byte = 0;
    while (::read(fd_, &byte, 1) == 1) {
    }
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  int fd_ = -1;
  pid_t pid_ = 0;
};

TEST_F(Supervisorctl, TheShellHasPromptCompletionAndHistory) {
  Terminal terminal(program("trainwardctl"), folder_.path());
  EXPECT_THAT(terminal.until("trainward> "), HasSubstr("idle                             STOPPED"));
  terminal.type("stat\tid\t\r");
  // What Tab adds; the editor moves the cursor between.
  EXPECT_THAT(terminal.until("Not started"), AllOf(HasSubstr("us "), HasSubstr("le ")));
  terminal.until("trainward> ");
  terminal.type("\x1b[A\r");
  EXPECT_THAT(terminal.until("Not started"), HasSubstr("status idle")) << "from the history";
  terminal.until("trainward> ");
  terminal.type("fg run\r");
  EXPECT_THAT(terminal.until("tail -f NAME"), HasSubstr("unknown command 'fg'"));
  terminal.until("trainward> ");
  terminal.type("exit\r");
  EXPECT_EQ(terminal.end(), 0);
}

TEST_F(Supervisorctl, CtrlCEndsTheCommandAndNotTheShell) {
  Terminal terminal(program("trainwardctl"), folder_.path());
  terminal.until("trainward> ");
  terminal.type("tail -f run\r");
  terminal.until("one");
  terminal.type("\x03");
  terminal.until("trainward> ");
  EXPECT_TRUE(terminal.is_raw()) << "as soon as the prompt is there";
  terminal.type("pid idle\r");
  EXPECT_THAT(terminal.until("0\r\n"), HasSubstr("pid idle"));
  terminal.until("trainward> ");
  terminal.type("half a line\x03");
  terminal.until("^C");
  terminal.type("\x04");
  EXPECT_EQ(terminal.end(), 0);
}

TEST_F(Supervisorctl, TheShellAsksBeforeItEndsTheDaemon) {
  Terminal terminal(program("trainwardctl"), folder_.path());
  terminal.until("trainward> ");
  terminal.type("shutdown\r");
  terminal.until("y/N ");
  terminal.type("n\r");
  terminal.until("trainward> ");
  EXPECT_EQ(ctl({"version"}).code, 0);
  terminal.type("shutdown\r");
  terminal.until("y/N ");
  terminal.type("y\r");
  terminal.until("Shut down");
  terminal.type("quit\r");
  EXPECT_EQ(terminal.end(), 0);
  EXPECT_EQ(end_of(std::exchange(daemon_, 0)), 0);
}

// The real module, with the real program in supervisorctl's place.
class Ansible : public Supervisorctl {
 protected:
  void SetUp() override {
    if (::access(ansible_.c_str(), X_OK) != 0) GTEST_SKIP() << "there is no " << ansible_;
    Supervisorctl::SetUp();
  }
  Output play(const std::string& state, const std::string& name, const std::string& more = "") {
    return run(ansible_, {"localhost", "-c", "local", "-m", "community.general.supervisorctl", "-a",
                          "name=" + name + " state=" + state +
                              " supervisorctl_path=" + program("trainwardctl") +
                              " server_url=unix://" + path(".trainward/trainward.sock").string() +
                              " username=me password=secret " + more});
  }
  void expect(const Output& output, const std::string& result) {
    EXPECT_EQ(output.code, 0) << output.out << output.err;
    EXPECT_THAT(output.out, HasSubstr(result)) << output.err;
  }

 private:
  std::string ansible_ = [] {
    const char* named = std::getenv("TRAINWARD_TEST_ANSIBLE");
    return std::string(named == nullptr ? "/usr/bin/ansible" : named);
  }();
};

TEST_F(Ansible, EveryStateIsReached) {
  expect(play("started", "idle"), "localhost | CHANGED");
  expect(play("started", "idle"), "localhost | SUCCESS");
  expect(play("restarted", "idle"), "localhost | CHANGED");
  expect(play("signalled", "run", "signal=USR1"), "localhost | CHANGED");
  wait_until([&] { return ctl({"tail", "run"}).out == "one\ngot USR1\n"; });
  EXPECT_NE(play("absent", "idle").code, 0) << "it runs";
  expect(play("stopped", "idle"), "localhost | CHANGED");
  expect(play("absent", "idle"), "localhost | CHANGED");
  expect(play("absent", "idle"), "localhost | SUCCESS");
  expect(play("present", "idle"), "localhost | CHANGED");
  EXPECT_NE(play("started", "nope").code, 0);
  EXPECT_EQ(state("idle"), "STOPPED");
}

}  // namespace
}  // namespace trainward::e2e
