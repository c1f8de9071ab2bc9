// A program in a terminal of its own (a pty), its screen read as a person would.
//
// The test keeps the terminal's other end open, so that what is left of its settings can be looked
// at after the program has ended.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <csignal>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "common/os/fd.hpp"
#include "terminal_model.hpp"

namespace trainward::e2e {

class TerminalProgram {
 public:
  TerminalProgram(const std::vector<std::string>& argv, const std::string& folder, int width = 80,
                  int height = 24, const std::vector<std::string>& environment = {})
      : screen(width, height) {
    winsize size{static_cast<unsigned short>(height), static_cast<unsigned short>(width), 0, 0};
    int master = -1;
    int slave = -1;
    if (::openpty(&master, &slave, nullptr, nullptr, &size) != 0) std::abort();
    master_ = Fd(master);
    slave_ = Fd(slave);
    ::tcgetattr(slave, &before_);
    std::vector<char*> words;
    for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::close(master);
    ::login_tty(slave);
    for (const std::string& variable : environment) ::putenv(const_cast<char*>(variable.c_str()));
    if (::chdir(folder.c_str()) == 0) ::execv(words[0], words.data());
    ::_exit(127);
  }
  ~TerminalProgram() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  TerminalProgram(const TerminalProgram&) = delete;
  TerminalProgram& operator=(const TerminalProgram&) = delete;

  void type(const std::string& bytes) { (void)!::write(master_.get(), bytes.data(), bytes.size()); }

  void resize(int width, int height) {
    winsize size{static_cast<unsigned short>(height), static_cast<unsigned short>(width), 0, 0};
    screen.resize_when_erased(width, height);
    ::ioctl(slave_.get(), TIOCSWINSZ, &size);  // sends SIGWINCH
  }

  // Reads until it is so, or the program has ended, which then is a failure; the test's own time
  // limit is the bound.
  void read_until(const std::function<bool()>& condition) {
    while (!condition()) {
      pollfd ready{master_.get(), POLLIN, 0};
      if (::poll(&ready, 1, 100) > 0) {
        take();
      } else if (has_ended()) {
        ADD_FAILURE() << "it has ended, showing:\n" << screen.text();
        return;
      }
    }
  }
  void read_until_shown(const std::string& text) {
    read_until([&] { return screen.shows(text); });
  }

  // Its exit code; -N: ended by signal N. What it still had to say is read.
  int end() {
    int status = 0;
    while (::waitpid(pid_, &status, WNOHANG) == 0) {
      pollfd ready{master_.get(), POLLIN, 0};
      if (::poll(&ready, 1, 10) > 0) take();
    }
    pid_ = 0;
    pollfd ready{master_.get(), POLLIN, 0};
    while (::poll(&ready, 1, 0) > 0 && take()) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  // Hangs up, as a lost connection does.
  void hang_up() {
    slave_.reset();
    master_.reset();
  }
  int end_without_terminal() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  // Why the terminal is not as it was before; empty: it is.
  [[nodiscard]] std::string not_restored() const {
    if (screen.other_screen) return "it shows the other screen";
    if (!screen.cursor) return "the cursor is hidden";
    if (!screen.wraps) return "lines do not wrap";
    if (screen.tells_pastes) return "pastes are told";
    if (!screen.look.empty()) return "text looks like " + screen.look;
    if (!screen.wrong.empty()) return "wrong: " + screen.wrong;
    termios after{};
    ::tcgetattr(slave_.get(), &after);
    if (after.c_lflag != before_.c_lflag || after.c_iflag != before_.c_iflag ||
        after.c_oflag != before_.c_oflag || after.c_cflag != before_.c_cflag ||
        std::memcmp(after.c_cc, before_.c_cc, sizeof(after.c_cc)) != 0) {
      return "its settings differ";
    }
    return {};
  }
  [[nodiscard]] bool is_taken_over() const {
    termios now{};
    ::tcgetattr(slave_.get(), &now);
    return screen.other_screen && (now.c_lflag & ICANON) == 0;
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }  // read so far

  TerminalModel screen;
  std::string raw;  // what the screen was made of

 private:
  [[nodiscard]] bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
  }

  bool take() {
    char buffer[4096];
    const ssize_t got = ::read(master_.get(), buffer, sizeof(buffer));
    if (got <= 0) return false;
    bytes_ += static_cast<std::size_t>(got);
    raw.append(buffer, static_cast<std::size_t>(got));
    screen.take({buffer, static_cast<std::size_t>(got)});
    return true;
  }

  Fd master_;
  Fd slave_;
  pid_t pid_ = 0;
  termios before_{};
  std::size_t bytes_ = 0;
};

}  // namespace trainward::e2e
