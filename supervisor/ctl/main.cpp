// trainwardctl: what the process has (arguments, environment, terminal) handed to ctl::run.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "common/base/text.hpp"
#include "common/os/clock.hpp"
#include "supervisor/ctl/arguments.hpp"

namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread exists yet
  return value == nullptr ? "" : value;
}

// A daemon of one's own, in this folder, comes before the system's service.
std::string_view default_state_dir() {
  if (const auto named = variable("TRAINWARD_STATE_DIR"); !named.empty()) return named;
  constexpr const char* own = ".trainward";
  const bool service = ::access(trainward::ctl::system_service::socket, F_OK) == 0 ||
                       ::access(trainward::ctl::system_service::state_dir, F_OK) == 0;
  if (service && ::access(own, F_OK) != 0) return trainward::ctl::system_service::state_dir;
  return own;
}

// As the C library has it: the first of them that is set counts.
bool speaks_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = variable(name);
    if (value.empty()) continue;
    const std::string locale = trainward::upper_case(value);
    return locale.find("UTF-8") != std::string::npos || locale.find("UTF8") != std::string::npos;
  }
  return false;
}

int terminal_width(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  const bool dumb = variable("TERM") == "dumb";
  const bool colour = terminal && variable("NO_COLOR").empty() && !dumb;
  trainward::ctl::Terminal streams{
      std::cout,        std::cerr, colour,           terminal ? terminal_width(STDOUT_FILENO) : 0,
      trainward::now(), {},        terminal && !dumb};
  if (::isatty(STDERR_FILENO) == 1 && !dumb) {
    streams.err_width = [] { return terminal_width(STDERR_FILENO); };
  }
  streams.in = &std::cin;
  streams.in_is_terminal = ::isatty(STDIN_FILENO) == 1 && terminal && !dumb;
  streams.utf8 = speaks_utf8();
  streams.out_is_terminal = terminal;
  return trainward::ctl::run({argv + 1, argv + argc}, default_state_dir(), streams);
}
