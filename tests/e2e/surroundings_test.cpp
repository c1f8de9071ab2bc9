// Whatever starts the daemon: as process 1, with a socket and a watchdog of an init system,
// replaced in place by another program.

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "common/os/sockets/unix_socket.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

constexpr const char* idle = "programs:\n  run: {command: [/usr/bin/tail, -f, /dev/null]}\n";

class Surroundings : public World {
 protected:
  static std::vector<pid_t> children(pid_t pid) {
    const std::string number = std::to_string(pid);
    std::ifstream list("/proc/" + number + "/task/" + number + "/children");
    std::vector<pid_t> found;
    for (pid_t child = 0; list >> child;) found.push_back(child);
    return found;
  }
  static std::string image(pid_t pid) {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error).string();
  }
  // What the daemon tells its init system, one datagram after the other.
  std::string next_notification(const Fd& socket) {
    pollfd readable{socket.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&readable, 1, 20'000), 1) << daemon_log();
    std::array<char, 4096> text{};
    const ssize_t got = ::recv(socket.get(), text.data(), text.size(), 0);
    return {text.data(), got < 0 ? 0 : static_cast<std::size_t>(got)};
  }
  void wait_for_notification(const Fd& socket, const std::string& part) {
    for (;;) {
      const std::string text = next_notification(socket);
      if (text.find(part) != std::string::npos) return;
      if (text.empty()) return;  // said already
    }
  }
  // trainwardd in a folder of its own, so that a test may replace it.
  void install() {
    std::filesystem::create_directories(path("bin"));
    for (const char* name : {"trainward-shim", "trainward-probe", "trainward-worker"}) {
      std::filesystem::create_symlink(program(name), path("bin") / name);
    }
    std::filesystem::copy_file(program("trainwardd"), path("bin/trainwardd"));
  }
  void replace_daemon_by(const std::filesystem::path& file) {
    std::filesystem::copy_file(file, path("bin/new"));
    ::chmod(path("bin/new").c_str(), 0755);
    std::filesystem::rename(path("bin/new"), path("bin/trainwardd"));
  }

  static std::vector<std::string> as_process_one(std::vector<std::string> argv) {
    argv.insert(argv.begin(), {"/usr/bin/unshare", "--pid", "--fork", "--kill-child",
                               "--mount-proc", "--user", "--map-root-user"});
    return argv;
  }
};

TEST_F(Surroundings, ProcessOneReapsWhatItDidNotStartAndKeepsTheExitCodeContract) {
  if (end_of(start(as_process_one({"/bin/true"}))) != 0) {
    GTEST_SKIP() << "no PID namespace may be made here";
  }

  ASSERT_EQ(::mkfifo(path("go").c_str(), 0600), 0);
  write("run.yaml", "programs:\n  run: {command: [/bin/sh, -c, 'read line < go; exit 93']}\n");
  const pid_t outside = start(as_process_one({program("trainwardd"), "--once", "run.yaml"}));
  wait_until([&] { return !children(outside).empty(); });
  const pid_t daemon = children(outside).front();
  worker_pid();
  const auto own = children(daemon);
  ASSERT_EQ(own.size(), 1U) << "the shim";

  // An orphan of somebody who entered the container.
  ASSERT_EQ(::mkfifo(path("end").c_str(), 0600), 0);
  const std::string target = std::to_string(daemon);
  ASSERT_EQ(end_of(start({"/usr/bin/nsenter", "--user", "--pid", "--target", target, "/bin/sh",
                          "-c", "(read line < " + path("end").string() + "; exit 5) & exit 0"})),
            0);
  wait_until([&] { return children(daemon).size() == 2; });
  ASSERT_TRUE(open_file(path("end"), O_WRONLY).has_value());
  wait_until([&] { return children(daemon) == own; });
  {
    const auto go = open_file(path("go"), O_WRONLY);
    ASSERT_TRUE(go.has_value());
  }
  EXPECT_EQ(end_of(outside), 93) << daemon_log();
  EXPECT_EQ(attempts().front().exit_code, 93);
}

TEST_F(Surroundings, ProcessOneStopsGracefullyThoughSignalsHaveNoDefaultThere) {
  if (end_of(start(as_process_one({"/bin/true"}))) != 0) {
    GTEST_SKIP() << "no PID namespace may be made here";
  }

  write("run.yaml",
        "programs:\n  run: {command: [/bin/sh, -c, "
        "'trap \"echo saved > saved; exit 0\" TERM; echo > up; tail -f /dev/null & wait']}\n");
  const pid_t outside = start(as_process_one({program("trainwardd"), "--once", "run.yaml"}));
  wait_until([&] { return std::filesystem::exists(path("up")); });
  worker_pid();
  ::kill(children(outside).front(), SIGTERM);
  EXPECT_EQ(end_of(outside), 75) << daemon_log();
  EXPECT_TRUE(std::filesystem::exists(path("saved")));
}

TEST_F(Surroundings, ASocketAndAWatchdogOfTheInitSystemAreUsedAlsoAfterAReload) {
  write("run.yaml", idle);
  const Fd notifications = bind_datagram(path("notify"), 0600).value();
  ::fcntl(notifications.get(), F_SETFL, 0);
  const Fd listening(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path("given.sock")
      .string()
      .copy(static_cast<char*>(address.sun_path), sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(listening.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::listen(listening.get(), 8), 0);
  const std::string fd = std::to_string(listening.get());
  const pid_t daemon =
      start({"/bin/sh", "-c",
             "NOTIFY_SOCKET=\"$1\" WATCHDOG_USEC=300000 LISTEN_FDS=1 LISTEN_PID=$$ exec \"$0\" "
             "run.yaml 3<&" +
                 fd,
             program("trainwardd"), path("notify")});
  wait_for_notification(notifications, "READY=1");
  wait_for_notification(notifications, "WATCHDOG=1");
  wait_for_notification(notifications, "WATCHDOG=1");
  const std::vector<std::string> pid{"--socket", path("given.sock"), "pid"};
  EXPECT_EQ(ctl(pid).out, std::to_string(daemon) + "\n");
  EXPECT_FALSE(std::filesystem::exists(path(".trainward/trainward.sock")));

  EXPECT_EQ(ctl({"--socket", path("given.sock"), "reload"}).code, 0);
  wait_for_notification(notifications, "RELOADING=1\nMONOTONIC_USEC=");
  wait_for_notification(notifications, "READY=1");
  wait_for_notification(notifications, "WATCHDOG=1");
  EXPECT_EQ(ctl(pid).out, std::to_string(daemon) + "\n");

  ask_to_end(daemon);
  wait_for_notification(notifications, "STOPPING=1");
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
  EXPECT_TRUE(std::filesystem::exists(path("given.sock"))) << "whoever made it removes it";
}

TEST_F(Surroundings, AnUpgradeReplacesTheProgramInPlaceAndLeavesTheWorkerAlone) {
  install();
  write("run.yaml", idle);
  const pid_t daemon = start({path("bin/trainwardd"), "run.yaml"});
  const auto worker = worker_pid();
  replace_daemon_by(program("trainwardd"));
  ASSERT_TRUE(image(daemon).ends_with(" (deleted)"));
  const Output upgraded = ctl({"upgrade"});
  EXPECT_EQ(upgraded.code, 0) << upgraded.err << daemon_log();
  EXPECT_NE(upgraded.out.find("no other version is installed"), std::string::npos) << upgraded.out;
  EXPECT_EQ(image(daemon), path("bin/trainwardd").string());
  EXPECT_EQ(ctl({"pid", "run"}).out, std::to_string(worker) + "\n");
  EXPECT_EQ(attempts().size(), 1U);
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
}

TEST_F(Surroundings, AnUpgradeToSomethingThatDoesNotWorkIsRefused) {
  install();
  write("run.yaml", idle);
  const pid_t daemon = start({path("bin/trainwardd"), "run.yaml"});
  const auto worker = worker_pid();
  write("script", "#!/bin/sh\nexit 3\n");
  replace_daemon_by(path("script"));
  const Output broken = ctl({"upgrade"});
  EXPECT_EQ(broken.code, 1);
  EXPECT_NE(broken.err.find("does not run as trainwardd"), std::string::npos) << broken.err;

  write(
      "script",
      "#!/bin/sh\n[ $1 = --version ] && echo trainwardd 9.9 && exit\necho too new >&2; exit 78\n");
  replace_daemon_by(path("script"));
  const Output picky = ctl({"upgrade"});
  EXPECT_EQ(picky.code, 1);
  EXPECT_NE(picky.err.find("version 9.9 refuses"), std::string::npos) << picky.err;
  EXPECT_NE(picky.err.find("too new"), std::string::npos) << picky.err;
  EXPECT_EQ(ctl({"pid", "run"}).out, std::to_string(worker) + "\n");

  // Yes to every question, and nothing behind it.
  write("script", "#!/bin/sh\n[ $1 = --version ] && echo trainwardd 9.9\nexit 0\n");
  replace_daemon_by(path("script"));
  const Output yes = ctl({"upgrade"});
  EXPECT_EQ(yes.code, 1) << yes.out;
  EXPECT_NE(yes.err.find("version 9.9 does not start here"), std::string::npos) << yes.err;
  write("script",
        "#!/bin/sh\n[ $1 = --version ] && echo trainwardd 9.9\n"
        "[ $1 = --rehearse ] && echo \"ready $2\"\nexit 0\n");
  replace_daemon_by(path("script"));
  EXPECT_EQ(ctl({"upgrade"}).code, 1);
  EXPECT_EQ(ctl({"pid", "run"}).out, std::to_string(worker) + "\n");

  // A reload goes on with the program that runs, whatever lies there by now.
  write("script", "neither a script nor a program");
  replace_daemon_by(path("script"));
  EXPECT_EQ(ctl({"reload"}).code, 0) << daemon_log();
  EXPECT_NE(daemon_log().find("another program lies at"), std::string::npos) << daemon_log();
  EXPECT_EQ(read_file(fmt::format("/proc/{}/comm", daemon), 64).value(), "trainwardd\n");
  EXPECT_EQ(ctl({"reload"}).code, 0) << daemon_log();
  EXPECT_EQ(ctl({"upgrade"}).code, 1) << "it knows where to look for another";
  EXPECT_EQ(ctl({"pid"}).out, std::to_string(daemon) + "\n");
  EXPECT_EQ(ctl({"pid", "run"}).out, std::to_string(worker) + "\n");
  EXPECT_EQ(attempts().size(), 1U);
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
}

TEST_F(Surroundings, AReloadThatWouldNotStartIsRefused) {
  write("run.yaml", idle);
  const pid_t daemon = start_daemon({"run.yaml"});
  const auto worker = worker_pid();
  write("rules.yaml", "rules: [{nonsense: 1}]\n");
  for (const std::string more : {"rules: rules.yaml\n", "socket: nowhere/at/all/x.sock\n",
                                 "socket: /proc/x.sock\n", "state_dir: /proc/state\n"}) {
    write("run.yaml", more + idle);
    for (const char* verb : {"reload", "upgrade"}) {
      const Output refused = ctl({"--socket", path(".trainward/trainward.sock"), verb});
      EXPECT_EQ(refused.code, 1) << more << verb << refused.out << refused.err;
      EXPECT_FALSE(refused.err.empty());
    }
  }
  ASSERT_EQ(ctl({"pid"}).out, std::to_string(daemon) + "\n");
  EXPECT_EQ(ctl({"pid", "run"}).out, std::to_string(worker) + "\n");
  // What is right is taken, with another socket too.
  write("run.yaml", std::string("socket: other.sock\n") + idle);
  start({program("trainwardctl"), "--socket", path(".trainward/trainward.sock"), "reload"});
  wait_until([&] {
    return ctl({"--socket", path("other.sock"), "pid"}).out == std::to_string(daemon) + "\n";
  });
  EXPECT_FALSE(std::filesystem::exists(path(".trainward/trainward.sock")));
  EXPECT_EQ(ctl({"--socket", path("other.sock"), "pid", "run"}).out, std::to_string(worker) + "\n");
}

TEST_F(Surroundings, AFolderInPlaceOfTheLockIsNamedWithWhatToDo) {
  std::filesystem::create_directories(path(".trainward/trainwardd.lock"));
  write("run.yaml", idle);
  const Output refused = run("trainwardd", {"run.yaml"});
  EXPECT_EQ(refused.code, 1);
  const std::string lock = path(".trainward/trainwardd.lock").string();
  EXPECT_NE(refused.err.find(lock + ": is a folder"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("`mv " + lock + " " + lock + ".away`"), std::string::npos)
      << refused.err;
}

TEST_F(Surroundings, AStartIsRehearsedWithoutATrace) {
  write("run.yaml", idle);
  const pid_t daemon = start_daemon({"run.yaml"});
  worker_pid();
  const auto files = [&] {
    std::map<std::string, std::filesystem::file_time_type> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path(".trainward"))) {
      if (entry.is_regular_file() && entry.path().extension() != ".db-shm")
        found[entry.path()] = entry.last_write_time();
    }
    return found;
  };
  std::filesystem::create_directories(path("tmp"));
  Output rehearsed;
  // The daemon that runs may write something of its own meanwhile, but not each time.
  wait_until([&] {
    const auto before = files();
    rehearsed = run("/usr/bin/env", {"TMPDIR=" + path("tmp").string(), program("trainwardd"),
                                     "--rehearse", "12345", "run.yaml"});
    return files() == before;
  });
  EXPECT_EQ(rehearsed.code, 0) << rehearsed.err;
  EXPECT_TRUE(rehearsed.out.starts_with("ready ")) << rehearsed.out;
  EXPECT_EQ(rehearsed.out.find("12345"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(path("tmp")));
  EXPECT_EQ(attempts().size(), 1U);
  EXPECT_EQ(ctl({"pid"}).out, std::to_string(daemon) + "\n");
}

TEST_F(Surroundings, CheckSaysWhetherThisVersionCouldRunIt) {
  write("run.yaml", idle);
  EXPECT_EQ(run("trainwardd", {"--check", "run.yaml"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(path(".trainward"))) << "a check changes nothing";
  write("bad.yaml", "programs: {run: {comand: [x]}}\n");
  EXPECT_EQ(run("trainwardd", {"--check", "bad.yaml"}).code, 78);
  write(".trainward/trainward.db", "not a database at all, though long enough to be looked into\n");
  const Output damaged = run("trainwardd", {"--check", "run.yaml"});
  EXPECT_EQ(damaged.code, 78);
  EXPECT_NE(damaged.err.find("trainward.db"), std::string::npos) << damaged.err;
}

}  // namespace
}  // namespace trainward::e2e
