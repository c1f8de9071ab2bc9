// Commands about the daemon itself and its configuration.
#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "supervisor/ctl/commands.hpp"
#include "supervisor/ctl/source.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {
namespace {

using namespace std::chrono_literals;

struct Group {
  std::string_view key;   // in the daemon's answer
  std::string_view text;  // after "NAME: "
};

// Prints "NAME: text" for each group; problems go to stderr and make it a failure.
int print_changes(const Context& context, const std::string& target,
                  const std::vector<Group>& groups, std::string_view nothing) {
  auto answer = as_object(call(context, Method::post, target, long_deadline));
  if (!answer) return finish(context, answer.error());
  const Names problems = texts_in(*answer, "problems");
  if (context.settings.json) {
    context.print_json(*answer);
  } else {
    std::string text;
    for (const Group& group : groups) {
      for (const std::string& name : texts_in(*answer, group.key)) {
        text += fmt::format("{}: {}\n", clean(name), group.text);
      }
    }
    if (text.empty() && problems.empty()) text = nothing;
    context.terminal.out << text;
    for (const std::string& problem : problems) context.terminal.err << clean(problem) << '\n';
  }
  return problems.empty() ? exit_status::ok : exit_status::failed;
}

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
    context.terminal.err << "trainwardd does not answer since; its log says why\n";
    return exit_status::failed;
  }
  if (context.settings.json) {
    context.print_json(*answer);
  } else {
    context.terminal.out << text(*answer) << '\n';
  }
  return exit_status::ok;
}

int pid_of_programs(const Context& context, const std::string& name) {
  auto rows = as_array(call(context, Method::get, "/v1/programs"));
  if (!rows) return finish(context, rows.error());
  json::array document;
  for (const json::value& value : *rows) {
    const json::object& row = value.get_object();
    const std::string program = string_or(row, "name", "");
    if (name == "all" || name == program) {
      document.push_back({{"name", program}, {"pid", int_or(row, "pid", 0)}});
    }
  }
  if (document.empty() && name != "all") {
    context.terminal.err << clean(name) << ": ERROR (no such process)\n";
    return exit_status::failed;
  }
  bool all_run = true;
  std::string text;
  for (const json::value& row : document) {
    const std::int64_t number = int_or(row.get_object(), "pid", 0);
    all_run = all_run && number > 0;
    text += fmt::format("{}\n", number);
  }
  if (context.settings.json) {
    context.print_json(document);
  } else {
    context.terminal.out << text;
  }
  return all_run ? exit_status::ok : exit_status::not_running;
}

}  // namespace

int pid(const Context& context, const std::string& name) {
  if (!name.empty()) return pid_of_programs(context, name);
  auto answer = as_object(call(context, Method::get, "/v1/version"));
  if (!answer) return finish(context, answer.error());
  const std::int64_t number = int_or(*answer, "pid", 0);
  if (context.settings.json) {
    context.print_json({{"pid", number}});
  } else {
    context.terminal.out << number << '\n';
  }
  return exit_status::ok;
}

int version(const Context& context) {
  auto answer = as_object(call(context, Method::get, "/v1/version"));
  if (!answer) return finish(context, answer.error());
  if (context.settings.json) {
    context.print_json(*answer);
  } else {
    context.terminal.out << clean(string_or(*answer, "version", "-")) << '\n';
  }
  return exit_status::ok;
}

int reread(const Context& context) {
  return print_changes(
      context, "/v1/reread",
      {{"available", "available"}, {"changed", "changed"}, {"disappeared", "disappeared"}},
      "No config updates to processes\n");
}

int update(const Context& context) {
  return print_changes(context, "/v1/update",
                       {{"stopped", "stopped"},
                        {"removed", "removed process group"},
                        {"updated", "updated process group"},
                        {"added", "added process group"}},
                       "");
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

}  // namespace trainward::ctl
