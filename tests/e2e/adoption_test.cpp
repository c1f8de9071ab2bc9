// The daemon dies; training does not.

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "common/os/processes/process_id.hpp"
#include "common/os/sockets/unix_socket.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

class Adoption : public World {};

TEST_F(Adoption, AKilledDaemonsSuccessorFinishesTheSameAttempt) {
  write_training("run.yaml", 1500, "");
  const pid_t first = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return last_step() >= 20; });
  ::kill(first, SIGKILL);
  EXPECT_EQ(end_of(first), -SIGKILL);
  const auto worker = attempts().front();
  ASSERT_TRUE(identify(static_cast<pid_t>(worker.pid)).has_value()) << "the worker died too";

  const pid_t second = start_daemon({"--once", "run.yaml"});
  EXPECT_EQ(end_of(second), 0) << daemon_log();
  ASSERT_EQ(attempts().size(), 1U) << "a second worker was started\n" << daemon_log();
  EXPECT_EQ(attempts().front().pid, worker.pid);
  EXPECT_EQ(attempts().front().last_step, 1500);
  EXPECT_EQ(attempts().front().cause, "done");

  // Every heartbeat once: the ones sent while nobody listened as well.
  auto store = store::Store::open_read_only(path(".trainward/trainward.db"));
  auto report = store->report_json("run");
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(store->highest_step("run").value(), 1500);
  EXPECT_EQ(store->step_rows("run").value(), 1500);
}

// Descriptors come and go by the hundred here: none may be taken for another.
// A worker that held the API's socket would keep it open when the daemon is gone: clients would
// wait for an answer instead of hearing that there is no daemon.
TEST_F(Adoption, AWorkerInheritsItsLeaseAndNothingElseOfTheDaemon) {
  write(
      "run.yaml",
      "programs:\n  run:\n    command: [/bin/sh, -c, 'ls -l /proc/self/fd > new; mv new fds; exec "
      "tail -f /dev/null']\n    autostart: false\n");
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return ctl({"version"}).code == 0; });
  const Fd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto socket = SocketPath::make(path(".trainward/trainward.sock")).value();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket.text().copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(ctl({"start", "run"}).code, 0);
  wait_until([&] { return std::filesystem::exists(path("fds")); });
  const std::string inherited = read_file(path("fds"), 1 << 20).value();
  EXPECT_NE(inherited.find("leases/program-run"), std::string::npos) << inherited;
  for (const char* what : {"socket:", "anon_inode:", "trainward.db"}) {
    EXPECT_EQ(inherited.find(what), std::string::npos) << inherited;
  }
  ::kill(daemon, SIGKILL);
  end_of(daemon);
  EXPECT_NE(ctl({"pid"}).err.find("trainwardd is not running"), std::string::npos);
}

TEST_F(Adoption, AHundredProgramsStartTogetherAndEachOnlyOnce) {
  std::string text = "programs:\n";
  for (int i = 0; i < 100; ++i) {
    text +=
        fmt::format("  p{}: {{command: [/usr/bin/tail, -f, /dev/null], autostart: false}}\n", i);
  }
  write("run.yaml", text);
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return ctl({"version"}).code == 0; });
  const Output started = ctl({"start", "all"});
  EXPECT_EQ(started.code, 0) << started.out;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(attempts(fmt::format("p{}", i)).size(), 1U) << i;
  EXPECT_EQ(daemon_log().find("lost"), std::string::npos) << daemon_log();
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
}

TEST_F(Adoption, AnExitWhileNoDaemonLivedIsKnown) {
  write("run.yaml",
        "programs:\n  run:\n    command: [/bin/sh, -c, 'echo $$ > started; "
        "read line < go; exit 42']\n    autorestart: never\n");
  ASSERT_EQ(::mkfifo(path("go").c_str(), 0600), 0);
  const pid_t first = start_daemon({"run.yaml"});
  wait_until([&] { return std::filesystem::exists(path("started")); });
  const ProcessId process = identify(worker_pid()).value();
  ::kill(first, SIGKILL);
  end_of(first);
  const Fd watched = open_process(process).value();
  {
    const auto go = open_file(path("go"), O_WRONLY);
    ASSERT_TRUE(go.has_value());
  }
  pollfd ended{watched.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&ended, 1, 20'000), 1);

  const pid_t second = start_daemon({"run.yaml"});
  wait_until([&] { return attempts().front().ended_ms > 0; });
  EXPECT_EQ(attempts().front().exit_code, 42);
  EXPECT_EQ(attempts().size(), 1U);
  ::kill(second, SIGTERM);
  EXPECT_EQ(end_of(second), 0);
}

TEST_F(Adoption, ASecondDaemonInTheSameFolderIsRefused) {
  write("run.yaml", "programs:\n  run: {command: [/bin/cat, /dev/zero], autostart: false}\n");
  const pid_t first = start_daemon({"run.yaml"});
  wait_until([&] { return ctl({"version"}).code == 0; });
  const Output second = run("trainwardd", {"run.yaml"});
  EXPECT_NE(second.code, 0);
  EXPECT_NE(second.err.find("another trainwardd works in this state folder"), std::string::npos)
      << second.err;
  ::kill(first, SIGTERM);
  EXPECT_EQ(end_of(first), 0);
}

TEST_F(Adoption, ReloadStartsTheDaemonAnewAndLeavesTheWorkerAlone) {
  write("run.yaml", "programs:\n  run: {command: [/usr/bin/tail, -f, /dev/null]}\n");
  const pid_t daemon = start_daemon({"run.yaml"});
  const pid_t before = worker_pid();
  EXPECT_EQ(ctl({"reload"}).code, 0);
  wait_until([&] { return daemon_log().find("took over attempt 1") != std::string::npos; });
  EXPECT_EQ(attempts().size(), 1U);
  EXPECT_EQ(attempts().front().pid, before);
  EXPECT_EQ(ctl({"stop", "run"}).code, 0);
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
}

}  // namespace
}  // namespace trainward::e2e
