// reload, upgrade: another daemon takes the place of this one; workers go on.
#include <chrono>
#include <functional>
#include <thread>

#include "common/base/text.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {
namespace {

using namespace std::chrono_literals;

// Until the daemon that answers is another than the one of `started_ms`. False: not within 15 s.
bool wait_for_successor(const Context& context, std::int64_t started_ms) {
  const auto give_up = std::chrono::steady_clock::now() + 15s;
  while (std::chrono::steady_clock::now() < give_up) {
    auto answer = as_object(call(context, Method::get, "/v1/version"));
    if (answer && int_or(*answer, "started_ms", started_ms) != started_ms) return true;
    std::this_thread::sleep_for(20ms);
  }
  return false;
}

// `text` is printed when the daemon's successor answers.
int replace_daemon(const Context& context, const std::string& target,
                   const std::function<std::string(const json::object&)>& text) {
  auto answer = as_object(call(context, Method::post, target, long_deadline));
  if (!answer) return finish(context, answer.error());
  const std::int64_t started_ms = int_or(*answer, "started_ms", 0);
  if (started_ms > 0 && !wait_for_successor(context, started_ms)) {
    context.terminal.err << "trainwardd has not answered since then; its log says why\n";
    return exit_status::failed;
  }
  if (context.settings.json) {
    context.print_json(*answer);
  } else {
    context.terminal.out << clean(text(*answer)) << '\n';
  }
  return exit_status::ok;
}

int reload(const Context& context) {
  return replace_daemon(context, "/v1/reload",
                        [](const json::object&) { return std::string("Restarted trainwardd"); });
}

int upgrade(const Context& context) {
  return replace_daemon(context, "/v1/upgrade", [](const json::object& answer) {
    const std::string from = clean(string_or(answer, "from", "-"));
    const std::string to = clean(string_or(answer, "to", "-"));
    if (from == to)
      return fmt::format("Restarted trainwardd {}; no other version is installed", to);
    return fmt::format("Upgraded trainwardd from {} to {}", from, to);
  });
}

}  // namespace

void add_successor(Cli& cli) {
  cli.on(cli.verb("reload", "restart the daemon"), reload);
  cli.on(cli.verb("upgrade", "continue as the trainwardd that is installed now"), upgrade);
}

}  // namespace trainward::ctl
