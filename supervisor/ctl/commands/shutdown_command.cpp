// shutdown: asks for the end and waits for it, so that "Shut down" is true when it is printed.
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "common/os/processes/process_id.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/decide/core/shown.hpp"

namespace trainward::ctl {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// The daemon that is to end, as far as it can be seen from here.
class Watched {
 public:
  Watched(const Context& context, const json::object& version)
      : pid_(static_cast<pid_t>(int_or(version, "pid", 0))),
        started_ms_(int_or(version, "started_ms", 0)) {
    // On another machine or in another PID namespace this number is somebody else's, or nobody's.
    if (!context.settings.is_here()) return;
    const auto name = read_file("/proc/" + std::to_string(pid_) + "/comm", 64);
    if (!name || trim(*name) != "trainwardd") return;
    if (auto id = identify(pid_)) {
      if (auto process = open_process(*id)) process_ = std::move(*process);
    }
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

  // Its process tells of its end. Where that cannot be seen: whether another one answers, or none.
  [[nodiscard]] bool gone_within(const Context& context, std::chrono::milliseconds time) const {
    if (process_) {
      pollfd ended{process_.get(), POLLIN, 0};
      return ::poll(&ended, 1, static_cast<int>(time.count())) > 0;
    }
    auto reply = client_of(context).document(Method::get, "/v1/version", short_deadline);
    if (!reply) {
      const Trouble trouble = reply.error().trouble;
      if (trouble == Trouble::missing || trouble == Trouble::refused) return true;
    } else if (reply->is_object() &&
               int_or(reply->get_object(), "started_ms", started_ms_) != started_ms_) {
      return true;
    }
    std::this_thread::sleep_for(std::min<std::chrono::milliseconds>(time, 50ms));
    return false;
  }

 private:
  pid_t pid_;
  std::int64_t started_ms_;
  Fd process_;
};

bool wait_for_the_end(const Context& context, const Watched& daemon,
                      std::chrono::milliseconds longest) {
  const auto begun = Clock::now();
  bool told = !context.terminal.err_width || context.settings.json;  // nobody watches
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(begun + longest - Clock::now());
    if (left <= 0ms) return false;
    if (daemon.gone_within(context, std::min<std::chrono::milliseconds>(left, 1s))) return true;
    if (!told && Clock::now() - begun >= 1s) {
      context.terminal.err << "Workers save and exit; waiting for up to "
                           << human_duration(longest.count()) << std::endl;
      told = true;
    }
  }
}

// What of it has not ended, and what it suffers from.
std::string why_still_there(const Context& context) {
  std::string text;
  const auto note = [&text](const std::string& what) {
    text += (text.empty() ? "" : "; ") + clean(what);
  };
  const auto rows = as_array(call(context, Method::get, "/v1/programs"));
  if (!rows) return clean(rows.error().error.message());
  for (const json::value& value : *rows) {
    const json::object& row = value.get_object();
    const std::string state = string_or(row, "state", "");
    if (core::facts(core::shown_from(state)).over) continue;
    note(string_or(row, "name", "-") + " is " + state + ", " + string_or(row, "reason", ""));
  }
  if (const auto version = as_object(call(context, Method::get, "/v1/version"))) {
    for (const std::string& trouble : texts_in(*version, "trouble")) note(trouble);
  }
  return text.empty() ? "its log says why" : text;
}

int shut_down(const Context& context) {
  auto version = as_object(call(context, Method::get, "/v1/version"));
  if (!version) return finish(context, version.error());
  const Watched daemon(context, *version);
  auto answer = as_object(call(context, Method::post, "/v1/shutdown", long_deadline));
  if (!answer) return finish(context, answer.error());
  const std::chrono::milliseconds longest(int_or(*answer, "within_ms", long_deadline.count()));
  if (!wait_for_the_end(context, daemon, longest)) {
    return finish(context,
                  {exit_status::failed,
                   {ErrorKind::transient,
                    fmt::format("trainwardd (pid {}) still runs after {}: {}", daemon.pid(),
                                human_duration(longest.count()), why_still_there(context)),
                    "", "it ends when they have; ask again to wait for that"}});
  }
  if (context.settings.json) {
    context.print_json(*answer);
  } else {
    context.terminal.out << "Shut down\n";
  }
  return exit_status::ok;
}

}  // namespace

void add_shutdown(Cli& cli) {
  cli.on(cli.verb("shutdown", "stop all programs and the daemon"), shut_down);
}

}  // namespace trainward::ctl
