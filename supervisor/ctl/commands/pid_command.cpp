// pid: process id of the daemon, of a program, or of all.
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/program_names.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {
namespace {

int pid_of_programs(const Context& context, const std::string& asked) {
  const std::string name = plain_name(asked);
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

int show_pid(const Context& context, const std::string& name) {
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

}  // namespace

void add_pid(Cli& cli) {
  auto& name = cli.keep<std::string>();  // empty: the daemon's
  const Verb verb = cli.verb("pid", "process id of the daemon, a program, or all");
  verb.option("NAME", name);
  cli.on(verb, name, show_pid);
}

}  // namespace trainward::ctl
