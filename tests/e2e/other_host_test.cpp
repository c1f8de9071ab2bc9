// trainwardctl --host: the real program at both ends. ssh is a script that does what sshd would do,
// in a folder a machine; where there is an sshd, it is the real one, on loopback.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>

#include "common/base/json/json.hpp"
#include "fake_daemon.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

using ctl::FakeDaemon;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Behind "--" stand the machine and one line for its shell. A machine may have a file `says`: what
// its profile does first.
constexpr const char* script = R"(#!/bin/sh
echo $$ >> "$FAR/started"
while [ "$1" != -- ]; do
  [ "$1" = BatchMode=yes ] || case "$1" in -T|-a|-x|-o|*=*) ;; *) exit 99 ;; esac
  shift
done
if ! cd "$FAR/$2" 2>/dev/null; then
  echo "ssh: Could not resolve hostname $2: Name or service not known" >&2
  exit 255
fi
unset TRAINWARD_STATE_DIR
HOME=$(pwd)
export HOME
if [ -f says ]; then . ./says; fi
exec sh -c "$3"
)";

class Host : public World {
 protected:
  Host() {
    ssh_is(script);
    const std::string programs = PROGRAMS;
    ::setenv("PATH", (path("bin").string() + ":" + programs + ":/usr/bin:/bin").c_str(), 1);
    ::setenv("FAR", path("far").c_str(), 1);
    add("box");
  }

  void ssh_is(const std::string& text) {
    write("bin/ssh", text);
    ASSERT_EQ(::chmod(path("bin/ssh").c_str(), 0755), 0);
  }
  void add(const std::string& machine, const std::string& says = "") {
    write("far/" + machine + "/says", says);
    std::filesystem::create_directories(path("far/" + machine + "/.trainward"));
  }
  std::unique_ptr<FakeDaemon> daemon(const std::string& machine = "box") {
    auto daemon =
        std::make_unique<FakeDaemon>(path("far/" + machine + "/.trainward/trainward.sock"));
    daemon->answers("GET /v1/version", R"({"version":"0.1.0","api":1,"pid":1})");
    daemon->answers("GET /v1/programs", R"([{"name":"run","state":"RUNNING","pid":11}])");
    return daemon;
  }
  Output at(const std::string& machine, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--host", "ssh://" + machine});
    return ctl(std::move(arguments));
  }
  // Process ids of the ssh that were started, in order.
  std::vector<pid_t> started() {
    std::istringstream in(read_file(path("far/started"), 1 << 20).value_or(""));
    std::vector<pid_t> pids;
    for (pid_t pid = 0; in >> pid;) pids.push_back(pid);
    return pids;
  }
};

TEST_F(Host, StatusOfAnotherMachine) {
  const auto far = daemon();
  const Output output = at("box", {"status"});
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("run                              RUNNING   pid 11"));
  EXPECT_EQ(output.err, "");
}

TEST_F(Host, ByFolderBySocketAndFromHome) {
  const auto far = daemon();
  const std::string folder = path("far/box/.trainward").string();
  for (const std::string& place :
       {folder, folder + "/trainward.sock", std::string("/~/.trainward")}) {
    const Output output = at("box" + place, {"version"});
    EXPECT_EQ(output.out, "0.1.0\n") << place << output.err;
  }
  EXPECT_EQ(ctl({"-s", "ssh://box", "version"}).out, "0.1.0\n");
}

// A folder whose name a shell would obey.
TEST_F(Host, APathIsNeverReadByAShell) {
  const std::string evil = "a b';touch owned;$(touch owned)`touch owned`\"|&";
  std::filesystem::create_directories(path("far/box/" + evil));
  FakeDaemon far(path("far/box/" + evil + "/trainward.sock"));
  far.answers("GET /v1/version", R"({"version":"0.2.0"})");
  const Output output = at("box/~/" + evil, {"version"});
  EXPECT_EQ(output.out, "0.2.0\n") << output.err;
  EXPECT_FALSE(std::filesystem::exists(path("far/box/owned")));
  EXPECT_FALSE(std::filesystem::exists(path("owned")));
}

TEST_F(Host, ManyCommandsGoThroughOneConnection) {
  const auto far = daemon();
  std::vector<std::string> words{"restart"};
  for (int i = 0; i < 40; ++i) {
    const std::string name = "p" + std::to_string(i);
    words.push_back(name);
    far->answers("POST /v1/programs/" + name + "/restart",
                 R"({"program":")" + name + R"(","result":"started","ok":true,"stopped":true})");
  }
  const Output output = at("box", words);
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_THAT(output.out, AllOf(HasSubstr("p0: started\n"), HasSubstr("p39: started\n")));
  EXPECT_EQ(started().size(), 1U);
  // and nothing of it is left
  EXPECT_NE(::kill(started().front(), 0), 0);
}

TEST_F(Host, EveryByteOfALogComesThrough) {
  const auto far = daemon();
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::string log(1 << 20, '\0');
  for (char& byte : log) byte = static_cast<char>(random());
  far->answers("GET /v1/programs/run/log?stream=stdout&offset=-1048576&limit=1048576",
               {200, log, "X-Log-Size: 1048576\r\nX-Log-Attempt: 1\r\n", false});
  const Output output = at("box", {"tail", "-1048576", "run"});
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_TRUE(output.out == log) << output.out.size() << " bytes";
}

TEST_F(Host, WhatAProfilePrintsIsPassedOver) {
  add("noisy", "echo Welcome to noisy; printf 'mesg: ttyname failed'; echo oops >&2\n");
  const auto far = daemon("noisy");
  const Output output = at("noisy", {"version"});
  EXPECT_EQ(output.out, "0.1.0\n") << output.err;
  EXPECT_EQ(output.err, "");
}

TEST_F(Host, EachFailureHasItsWords) {
  add("denied", "echo 'anna@denied: Permission denied (publickey).' >&2; exit 255\n");
  add("gone", "echo 'ssh: connect to host gone port 22: No route to host' >&2; exit 255\n");
  add("empty", "PATH=/nonexistent; set -- x x \"exec trainwardctl connect\"\n");
  add("older", "echo \"trainwardctl: unknown command 'connect'\" >&2; exit 2\n");
  add("newer",
      "echo '{\"trainward-connect\":99,\"version\":\"9.0\",\"place\":\"\"}'; exec cat "
      ">/dev/null\n");
  add("garbage", "cat /dev/zero\n");
  struct Case {
    const char* machine;
    int code;
    const char* words;
  };
  for (const Case& each : std::vector<Case>{
           {"denied", 4, "ssh is not let in: anna@denied: Permission denied (publickey)"},
           {"gone", 4, "cannot be reached: ssh: connect to host gone port 22: No route to host"},
           {"nobody", 4, "there is no machine of this name"},
           {"empty", 4, "trainwardctl was not found on that machine"},
           {"older", 5, "of an older version"},
           {"newer", 5, "(version 9.0) speaks another protocol"},
           {"garbage", 5, "is not trainwardctl's"},
       }) {
    const Output output = at(each.machine, {"version"});
    EXPECT_EQ(output.code, each.code) << each.machine;
    EXPECT_THAT(output.err, HasSubstr(each.words));
    EXPECT_THAT(output.out, IsEmpty());
    EXPECT_EQ(std::count(output.err.begin(), output.err.end(), '\n'), 1) << output.err;
  }
}

TEST_F(Host, NoSshHere) {
  ::setenv("PATH", "/nonexistent", 1);
  const Output output = at("box", {"status"});
  EXPECT_EQ(output.code, 4);
  EXPECT_THAT(output.err, HasSubstr("there is no ssh in PATH"));
}

TEST_F(Host, NoDaemonThereIsNotTheDatabaseHere) {
  std::filesystem::create_directories(path(".trainward"));
  ASSERT_TRUE(store::Store::open(path(".trainward/trainward.db")).has_value());
  const Output missing = at("box", {"history"});
  EXPECT_EQ(missing.code, 7);
  EXPECT_THAT(missing.err, AllOf(HasSubstr("not running on that machine"),
                                 HasSubstr("far/box/.trainward/trainward.sock")));
  { const auto far = daemon(); }
  const Output dead = at("box", {"tail", "run"});
  EXPECT_EQ(dead.code, 4);
  EXPECT_THAT(dead.err, HasSubstr("nobody listens at"));
}

TEST_F(Host, AConnectionThatBreaksEndsTheCommand) {
  // In the shell's place, so that ending the one ends the other.
  add("box", "set -- x x 'exec trainwardctl connect'\n");
  const auto far = daemon();
  far->answers("GET /v1/programs/run/log?stream=stdout&offset=-1600&limit=1600",
               {200, "", "", true});
  const pid_t tail = start({program("trainwardctl"), "--host", "ssh://box", "tail", "run"});
  wait_until([&] { return !far->requests().empty(); });
  ASSERT_EQ(::kill(started().front(), SIGKILL), 0);
  EXPECT_EQ(end_of(tail), 4);
  EXPECT_THAT(daemon_log(), HasSubstr("the connection broke off"));
}

TEST_F(Host, AKeyCanBeBoundToOneSocket) {
  add("bound", "set -- x x 'trainwardctl --state-dir .trainward connect --only'\n");
  const auto far = daemon("bound");
  EXPECT_EQ(at("bound", {"version"}).out, "0.1.0\n");
  const Output other = at("bound/run/docker.sock", {"version"});
  EXPECT_EQ(other.code, 4);
  EXPECT_THAT(other.err, HasSubstr("and nowhere else"));
}

TEST_F(Host, TheShell) {
  const auto far = daemon();
  write("typed", "version\npid\n");
  const Output output =
      run("/bin/sh", {"-c", "trainwardctl --host ssh://box < " + path("typed").string()});
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_EQ(output.out, "0.1.0\n1\n");
}

// sshd as a user runs it: keys and configuration of its own, a port of the kernel's choice.
class Sshd : public Host {
 protected:
  void SetUp() override {
    if (::access(sshd, X_OK) != 0 || ::access("/usr/bin/ssh", X_OK) != 0 ||
        ::access("/usr/bin/ssh-keygen", X_OK) != 0) {
      GTEST_SKIP() << "needs openssh-server and openssh-client";
    }
    for (const char* key : {"host_key", "key"}) {
      ASSERT_EQ(run("/usr/bin/ssh-keygen", {"-q", "-t", "ed25519", "-N", "", "-f", path(key)}).code,
                0);
    }
    std::filesystem::copy_file(path("key.pub"), path("authorized_keys"));
    if (::geteuid() == 0) std::filesystem::create_directories("/run/sshd");  // it insists
    port_ = free_port();
    write("sshd_config", "ListenAddress 127.0.0.1\nPort " + port_ + "\nHostKey " +
                             path("host_key").string() + "\nAuthorizedKeysFile " +
                             path("authorized_keys").string() +
                             "\nPidFile none\nStrictModes no\nPermitRootLogin yes\n"
                             "SetEnv \"PATH=" PROGRAMS ":/usr/bin:/bin\"\n");
    start({sshd, "-D", "-e", "-f", path("sshd_config")});
    wait_until([this] {
      return daemon_log().find("Server listening") != std::string::npos ||
             daemon_log().find("fatal") != std::string::npos;
    });
    if (daemon_log().find("Server listening") == std::string::npos) {
      GTEST_SKIP() << "sshd does not start: " << daemon_log();
    }
    trust(path("host_key.pub"));
    // ssh reads the configuration of the account, wherever HOME points.
    ssh_is("#!/bin/sh\nexec /usr/bin/ssh -F '" + path("ssh_config").string() + "' \"$@\"\n");
    write("ssh_config", "Host lab\n  HostName 127.0.0.1\n  Port " + port_ + "\n  IdentityFile " +
                            path("key").string() + "\n  IdentitiesOnly yes\n  UserKnownHostsFile " +
                            path("known").string() + "\n  LocalForward " + port_ +
                            " 127.0.0.1:1\n  RemoteCommand false\n");
    if (run("/bin/sh", {"-c", "ssh -o RemoteCommand=none lab true"}).code != 0) {
      GTEST_SKIP() << "sshd lets nobody in here: " << daemon_log();
    }
  }
  void trust(const std::filesystem::path& key) {
    std::ofstream(path("known")) << "[127.0.0.1]:" << port_ << " " << read_file(key, 4096).value();
  }
  static std::string free_port() {
    const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    return std::to_string(ntohs(address.sin_port));
  }

  static constexpr const char* sshd = "/usr/sbin/sshd";
  std::string port_;
};

// The name "lab", its port and its key are those of ssh's configuration; what it forwards and runs
// for logins is not.
TEST_F(Sshd, AnAliasOfSshsConfiguration) {
  const auto far = daemon();
  const std::string place = path("far/box/.trainward").string();
  const Output output = at("lab" + place, {"status"});
  EXPECT_EQ(output.code, 0) << output.err << daemon_log();
  EXPECT_THAT(output.out, HasSubstr("RUNNING   pid 11"));
  EXPECT_EQ(output.err, "");
  write("hosts", "lab" + place + "\nlab/nonexistent\n");
  const Output both = ctl({"status", "--hosts", path("hosts")});
  EXPECT_EQ(both.code, 4);
  EXPECT_THAT(both.out,
              AllOf(HasSubstr("RUNNING"), HasSubstr("there is no /nonexistent/trainward.sock")));
}

TEST_F(Sshd, WhatItRefusesIsSaid) {
  std::filesystem::remove(path("authorized_keys"));
  const Output denied = at("lab", {"status"});
  EXPECT_EQ(denied.code, 4);
  EXPECT_THAT(denied.err, HasSubstr("ssh is not let in: "));
  ASSERT_EQ(run("/usr/bin/ssh-keygen", {"-q", "-t", "ed25519", "-N", "", "-f", path("other")}).code,
            0);
  trust(path("other.pub"));
  const Output changed = at("lab", {"status"});
  EXPECT_EQ(changed.code, 4);
  EXPECT_THAT(changed.err, HasSubstr("the machine's key has changed"));
  std::filesystem::remove(path("known"));
  EXPECT_THAT(at("lab", {"status"}).err, HasSubstr("key is not known here"));
}

}  // namespace
}  // namespace trainward::e2e
