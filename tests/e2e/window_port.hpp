// A port of loopback: taken, tried for by strangers, asked for its page, and looked for among the
// descriptors of others.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/text.hpp"
#include "common/os/pipe.hpp"
#include "world.hpp"

namespace trainward::e2e {

inline sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// As any program would that wants it: empty when it cannot be had. Port 0: any.
inline Fd take_port(int port) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const sockaddr_in address = loopback(port);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(socket.get(), 8) != 0) {
    return {};
  }
  return socket;
}

inline int port_of(const Fd& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

// Processes that try for a port without a pause until they have it, as long as this lives.
class Strangers {
 public:
  Strangers(int port, int count) : told_(make_pipe().value()) {
    for (int i = 0; i < count; ++i) {
      const pid_t pid = ::fork();
      if (pid != 0) {
        pids_.push_back(pid);
        continue;
      }
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) {
        if (const Fd taken = take_port(port)) {
          (void)!::write(told_.write.get(), "!", 1);
          for (;;) ::pause();
        }
        ::sched_yield();
      }
    }
  }
  ~Strangers() {
    for (const pid_t pid : pids_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
  Strangers(const Strangers&) = delete;
  Strangers& operator=(const Strangers&) = delete;

  [[nodiscard]] bool have_it() const {
    pollfd readable{told_.read.get(), POLLIN, 0};
    return ::poll(&readable, 1, 0) == 1;
  }

 private:
  Pipe told_;
  std::vector<pid_t> pids_;
};

class PortWorld : public World {
 protected:
  static std::string page_on(int port) {
    return fmt::format(
        "listen: 127.0.0.1:{}\nprograms:\n  run: {{command: [/usr/bin/tail, -f, /dev/null]}}\n",
        port);
  }
  // The status of GET /healthz; 0: nobody answers.
  static int health(int port) {
    const Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback(port);
    if (::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
      return 0;
    const std::string request = fmt::format(
        "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", port);
    (void)::send(client.get(), request.data(), request.size(), MSG_NOSIGNAL);
    std::string answer(12, '\0');
    if (::recv(client.get(), answer.data(), answer.size(), MSG_WAITALL) != 12) return 0;
    return answer.starts_with("HTTP/1.1 ") ? std::atoi(answer.c_str() + 9) : 0;
  }
  std::string worker() { return std::string(trim(ctl({"pid", "run"}).out)); }
  void wait_for_worker() {
    wait_until([&] { return ctl({"pid", "run"}).code == 0; });
  }
  // Without "trainwardd: ": what the daemon suffers from.
  std::string trouble() { return ctl({"status"}).err; }

  static std::set<std::string> sockets_of(const std::string& pid) {
    std::set<std::string> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + pid + "/fd", error)) {
      const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
      if (target.starts_with("socket:[")) found.insert(target);
    }
    return found;
  }
  // Of the daemon's sockets those that listen, as /proc/PID/fd calls them.
  static std::set<std::string> listening(pid_t daemon) {
    const auto own = sockets_of(std::to_string(daemon));
    std::set<std::string> found;
    const auto look = [&](const char* table, std::size_t state, const std::string& listens,
                          std::size_t inode) {
      std::istringstream lines(read_file(table, 64 << 20).value_or(""));
      for (std::string line; std::getline(lines, line);) {
        std::istringstream in(line);
        std::vector<std::string> words;
        for (std::string word; in >> word;) words.push_back(word);
        if (words.size() <= inode || words[state] != listens) continue;
        const std::string name = "socket:[" + words[inode] + "]";
        if (own.contains(name)) found.insert(name);
      }
    };
    look("/proc/net/tcp", 3, "0A", 9);
    look("/proc/net/unix", 3, "00010000", 6);
    return found;
  }
};

// What every reload must leave as it was, with four strangers who want the port.
class PortThroughReloads : public PortWorld {
 protected:
  void reload(int times) {
    const int port = [] { return port_of(take_port(0)); }();
    write("run.yaml", page_on(port));
    const pid_t daemon = start_daemon({"run.yaml"});
    wait_for_worker();
    const std::string before = worker();
    const auto sockets = listening(daemon);
    ASSERT_EQ(sockets.size(), 2U) << daemon_log();
    const Strangers strangers(port, 4);
    for (int i = 0; i < times; ++i) {
      ASSERT_EQ(ctl({"reload"}).code, 0) << "reload " << i << '\n' << daemon_log();
      ASSERT_FALSE(strangers.have_it()) << "reload " << i << '\n' << daemon_log();
      ASSERT_EQ(health(port), 200) << "reload " << i;
      if (i % 10 != 9) continue;  // those tables take long to read
      ASSERT_EQ(listening(daemon), sockets) << "reload " << i << ": they were closed in between";
    }
    EXPECT_EQ(worker(), before);
    EXPECT_EQ(ctl({"pid"}).out, std::to_string(daemon) + "\n");
    EXPECT_EQ(attempts().size(), 1U);
    EXPECT_EQ(trouble(), "");
    ask_to_end(daemon);
    EXPECT_EQ(end_of(daemon), 0) << daemon_log();
    EXPECT_FALSE(std::filesystem::exists(path(".trainward/trainward.sock")));
  }
};

}  // namespace trainward::e2e
