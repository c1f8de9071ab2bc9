// A host's /proc, /sys and /dev in a temporary folder, and real children to look at.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "temporary_folder.hpp"

namespace trainward::host {

class FakeHost : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    const auto file = root() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  [[nodiscard]] const std::filesystem::path& root() const { return folder_.path(); }

  struct Process {
    pid_t pid = 0;
    pid_t parent = 1;
    std::string name = "python";
    char state = 'S';
    std::string ticks = "0 0 0 0";  // user, system, and of its children
    int start = 100;
    std::string children = "";
  };
  void write_process(const Process& p) const {
    const std::string folder = fmt::format("proc/{}/", p.pid);
    const std::string stat = fmt::format("{} ({}) {} {} 1 1 0 -1 0 0 0 0 0 {} 20 0 1 0 {} 0 0\n",
                                         p.pid, p.name, p.state, p.parent, p.ticks, p.start);
    write(folder + "stat", stat);
    write(folder + fmt::format("task/{}/stat", p.pid), stat);
    write(folder + fmt::format("task/{}/children", p.pid), p.children);
  }
  void write_thread(pid_t process, pid_t thread, const std::string& name, char state) const {
    write(fmt::format("proc/{}/task/{}/stat", process, thread),
          fmt::format("{} ({}) {} 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 7 0 0\n", thread, name,
                      state));
  }

 private:
  TemporaryFolder folder_;
};

// A test that is killed must leave nobody behind, whenever that is.
inline void end_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
}

// A child that runs `body`, then waits to be killed; it is, at the end. wait_ready() returns once
// the body is done.
class Child {
 public:
  explicit Child(const std::function<void()>& body) {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) return;
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) {
      end_with(parent);
      body();
      [[maybe_unused]] const ssize_t put = ::write(ends[1], "r", 1);
      char ignored = 0;
      ::close(ends[1]);
      // Sleeps in a read that never ends: the parent keeps the other end of a second pipe.
      int quiet[2] = {-1, -1};
      if (::pipe(quiet) == 0) [[maybe_unused]]
        const ssize_t got = ::read(quiet[0], &ignored, 1);
      ::_exit(0);
    }
    ::close(ends[1]);
    ready_ = ends[0];
  }
  ~Child() {
    end();
    ::close(ready_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool wait_ready() const {
    pollfd watched{ready_, POLLIN, 0};
    return ::poll(&watched, 1, 20'000) == 1 && (watched.revents & POLLIN) != 0;
  }
  void kill() const { ::kill(pid_, SIGKILL); }
  void end() {
    if (pid_ <= 0) return;
    kill();
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  int ready_ = -1;
};

}  // namespace trainward::host
