#include "trainer/worker/commands/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "common/base/terminal_text.hpp"
#include "common/base/text.hpp"
#include "common/wire/notifier.hpp"
#include "trainer/loop/reporting/reporter.hpp"
#include "trainer/loop/signals.hpp"

namespace trainward::trainer {
namespace {

int error_width() {
  const char* terminal =
      std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): no thread exists yet
  winsize size{};
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  if (dumb || ::isatty(STDERR_FILENO) != 1) return 0;
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

int with_terminal(const std::function<int(const CommandPorts& ports)>& command, bool colours) {
  const Notifier notifier;  // this process is not supervised
  const Sinks sinks = process_sinks(notifier);
  if (auto ok = SignalRequests::install(); !ok) {
    sinks.err("trainward-worker: " + clean(ok.error().message()) + "\n");
    return exit_code::failed;
  }
  const SignalRequests requests;
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  auto out = sinks.out;
  if (terminal && !colours) out = [&](std::string_view text) { sinks.out(clean_lines(text)); };
  return command(CommandPorts{requests, std::move(out), sinks.err, error_width,
                              [] { return std::chrono::steady_clock::now(); }, terminal});
}

}  // namespace trainward::trainer
