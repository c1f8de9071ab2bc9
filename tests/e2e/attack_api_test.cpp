// The API under attack: by a file in its socket's place, by clients that hold places, by
// descriptors that run out, by an end that takes its time. Real programs throughout.

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "common/os/processes/process_files.hpp"
#include "common/os/sockets/unix_socket.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

class AttackApi : public World {
 protected:
  static constexpr const char* idle =
      "programs:\n  run: {command: [/usr/bin/tail, -f, /dev/null], deadlines: {stop: 60s}}\n";
  // Says that it is up, and then takes a stop for as long as `saved` is not there.
  static constexpr const char* slow_to_save =
      "programs:\n  run:\n    command: [/bin/sh, -c, "
      "'trap \"read line < saved; exit 0\" TERM; echo > up; tail -f /dev/null & wait']\n"
      "    deadlines: {stop: 60s}\n";

  pid_t start_idle(const std::string& config) {
    write("run.yaml", config);
    const pid_t daemon = start_daemon({"run.yaml"});
    wait_until([&] { return ctl({"version"}).code == 0; });
    return daemon;
  }
  Fd connect() {
    Fd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto socket = SocketPath::make(path(".trainward/trainward.sock")).value();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket.text().copy(static_cast<char*>(address.sun_path), sizeof(address.sun_path) - 1);
    EXPECT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return client;
  }
  void let_it_save() { const auto go = open_file(path("saved"), O_WRONLY); }
  // In clock ticks.
  static std::int64_t processor_time(pid_t pid) {
    return host::read_stat("/", pid).value().own_ticks;
  }
  static std::size_t descriptors(pid_t pid) {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", pid))) {
      ++count;
    }
    return count;
  }
  // With this as its limit it gets no more; of those that it closes meanwhile it may use the
  // numbers.
  static rlim_t lowest_free_descriptor(pid_t pid) {
    rlim_t number = 0;
    while (std::filesystem::is_symlink(
        std::filesystem::symlink_status(fmt::format("/proc/{}/fd/{}", pid, number)))) {
      ++number;
    }
    return number;
  }
};

TEST_F(AttackApi, AFileInTheSocketsPlaceIsRefusedAndStays) {
  write("p.txt", "precious");
  write("run.yaml", std::string("socket: p.txt\n") + idle);
  const Output check = run("trainwardd", {"--check", "run.yaml"});
  EXPECT_EQ(check.code, 78);
  EXPECT_NE(check.err.find("a file lies where the socket is to be made"), std::string::npos)
      << check.err;
  const Output started = run("trainwardd", {"run.yaml"});
  EXPECT_EQ(started.code, 1);
  EXPECT_NE(started.err.find("a file lies where the socket is to be made"), std::string::npos)
      << started.err;
  EXPECT_EQ(read_file(path("p.txt"), 100).value(), "precious");
}

TEST_F(AttackApi, ADeadDaemonsSocketIsReplacedAndALivingOnesIsNot) {
  const pid_t daemon = start_idle(idle);
  write("other.yaml", std::string("state_dir: other\nsocket: ") +
                          path(".trainward/trainward.sock").string() + "\n" + idle);
  EXPECT_EQ(run("trainwardd", {"--check", "other.yaml"}).code, 0) << "it may be its own";
  EXPECT_EQ(run("trainwardd", {"other.yaml"}).code, 75);
  ::kill(daemon, SIGKILL);
  end_of(daemon);
  const pid_t next = start_idle(idle);
  ask_to_end(next);
  EXPECT_EQ(end_of(next), 0) << daemon_log();
}

TEST_F(AttackApi, WhoAsksAndLeavesTakesNoPlaceWithIt) {
  ASSERT_EQ(::mkfifo(path("saved").c_str(), 0600), 0);
  const pid_t daemon = start_idle(slow_to_save);
  wait_until([&] { return std::filesystem::exists(path("up")); });
  EXPECT_EQ(ctl({"status"}).code, 0);  // what the first read opens stays open
  const std::size_t before = descriptors(daemon);
  for (int i = 0; i < 200; ++i) {
    const Fd client = connect();
    constexpr std::string_view stop =
        "POST /v1/programs/run/stop HTTP/1.1\r\nHost: localhost\r\n\r\n";
    ASSERT_EQ(::send(client.get(), stop.data(), stop.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(stop.size()));
  }
  EXPECT_NE(ctl({"status"}).out.find("STOPPING"), std::string::npos);
  wait_until([&] { return descriptors(daemon) <= before; });
  let_it_save();
  wait_until([&] { return state() == "STOPPED"; });
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
}

TEST_F(AttackApi, SilentClientsDoNotKeepTheOwnerOut) {
  const pid_t daemon = start_idle(idle);
  std::vector<Fd> silent;
  for (int i = 0; i < 200; ++i) {
    silent.push_back(connect());
    if (i % 40 == 0) {
      EXPECT_EQ(ctl({"status"}).code, 0);
    }
  }
  EXPECT_EQ(ctl({"status"}).code, 0);
  EXPECT_NE(daemon_log().find("made room"), std::string::npos) << daemon_log();
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
}

TEST_F(AttackApi, WithoutDescriptorsItWaitsInsteadOfSpinning) {
  const pid_t daemon = start_idle(idle);
  rlimit before{};
  ASSERT_EQ(::prlimit(daemon, RLIMIT_NOFILE, nullptr, &before), 0);
  const rlimit none{lowest_free_descriptor(daemon), before.rlim_max};
  ASSERT_EQ(::prlimit(daemon, RLIMIT_NOFILE, &none, nullptr), 0);
  // It may have closed one that was open when they were counted: a client takes that place.
  std::vector<Fd> clients;
  Output refused;
  wait_until([&] {
    for (int i = 0; i < 4; ++i) clients.push_back(connect());
    refused = ctl({"version"});
    return refused.code != 0;
  });
  const std::int64_t begun = processor_time(daemon);
  EXPECT_NE(refused.err.find("cannot take another client"), std::string::npos) << refused.err;
  // A second of waiting clients: what is measured is the daemon's work meanwhile.
  for (int i = 0; i < 20; ++i) {
    clients.push_back(connect());
    ::poll(nullptr, 0, 50);
  }
  EXPECT_LT(processor_time(daemon) - begun, ::sysconf(_SC_CLK_TCK) / 4);
  ASSERT_EQ(::prlimit(daemon, RLIMIT_NOFILE, &before, nullptr), 0);
  wait_until([&] { return ctl({"version"}).code == 0; });
  const std::string log = daemon_log();
  EXPECT_NE(log.find("no client can be accepted: Too many open files"), std::string::npos) << log;
  EXPECT_EQ(log.find("no client can be accepted"), log.rfind("no client can be accepted")) << log;
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
}

TEST_F(AttackApi, AWorkerHasTheLimitThatTheDaemonWasStartedWith) {
  write("run.yaml",
        "programs:\n  run: {command: [/bin/sh, -c, 'ulimit -Sn > limit; mv limit limits; "
        "exec tail -f /dev/null']}\n");
  const pid_t daemon =
      start({"/bin/sh", "-c", "ulimit -Sn 300; exec \"$0\" run.yaml", program("trainwardd")});
  const auto worker_has = [&] {
    wait_until([&] { return std::filesystem::exists(path("limits")); });
    std::string text = read_file(path("limits"), 100).value();
    std::filesystem::remove(path("limits"));
    return text;
  };
  EXPECT_EQ(worker_has(), "300\n");
  rlimit raised{};
  ASSERT_EQ(::prlimit(daemon, RLIMIT_NOFILE, nullptr, &raised), 0);
  EXPECT_GT(raised.rlim_cur, 300U);
  // The next image of it neither keeps the raised limit for its own nor hands it on.
  EXPECT_EQ(ctl({"reload"}).code, 0);
  EXPECT_EQ(ctl({"restart", "run"}).code, 0);
  EXPECT_EQ(worker_has(), "300\n");
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
}

TEST_F(AttackApi, ShutDownIsSaidWhenItIsTrue) {
  ASSERT_EQ(::mkfifo(path("saved").c_str(), 0600), 0);
  const pid_t daemon = start_idle(slow_to_save);
  wait_until([&] { return std::filesystem::exists(path("up")); });
  auto out = open_file(path("shutdown.out"), O_WRONLY | O_CREAT | O_TRUNC);
  const pid_t client = spawn({program("trainwardctl"), "shutdown"}, out->get(), out->get());
  wait_until([&] { return state() == "STOPPING"; });
  EXPECT_EQ(read_file(path("shutdown.out"), 1000).value(), "");
  let_it_save();
  EXPECT_EQ(wait_for(client), 0);
  EXPECT_EQ(read_file(path("shutdown.out"), 1000).value(), "Shut down\n");
  EXPECT_EQ(::kill(daemon, 0), 0) << "waited for by nobody yet";
  siginfo_t ended{};
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(daemon), &ended, WEXITED | WNOHANG | WNOWAIT), 0);
  EXPECT_EQ(ended.si_pid, daemon) << "it had not ended";
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
}

}  // namespace
}  // namespace trainward::e2e
