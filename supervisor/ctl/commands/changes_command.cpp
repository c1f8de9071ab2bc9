// reread, update, avail, add, remove: what the configuration file has that the daemon has not, and
// taking it over.
#include <algorithm>

#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/program_names.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {
namespace {

struct Group {
  std::string_view key;   // in the daemon's answer
  std::string_view text;  // after "NAME: "
};

// Prints "NAME: text" for each group; problems go to stderr and make it a failure.
int print_changes(const Context& context, const json::object& answer,
                  const std::vector<Group>& groups, std::string_view nothing) {
  const Names problems = texts_in(answer, "problems");
  if (context.settings.json) {
    context.print_json(answer);
  } else {
    std::string text;
    for (const Group& group : groups) {
      for (const std::string& name : texts_in(answer, group.key)) {
        text += fmt::format("{}: {}\n", clean(name), group.text);
      }
    }
    if (text.empty() && problems.empty()) text = nothing;
    context.terminal.out << text;
    for (const std::string& problem : problems) context.terminal.err << clean(problem) << '\n';
  }
  return problems.empty() ? exit_status::ok : exit_status::failed;
}

int reread(const Context& context) {
  const auto answer = as_object(call(context, Method::post, "/v1/reread", long_deadline));
  if (!answer) return finish(context, answer.error());
  return print_changes(
      context, *answer,
      {{"available", "available"}, {"changed", "changed"}, {"disappeared", "disappeared"}},
      "No config updates to processes\n");
}

// supervisorctl's words for a name that is nowhere; stdout, where its callers look.
int say(const Context& context, const std::string& text) {
  context.terminal.out << "ERROR: " << clean(text) << '\n';
  return exit_status::failed;
}

bool is_unknown(const Failure& failure) { return failure.error.kind == ErrorKind::usage; }

int update_one(const Context& context, const std::string& target, const std::string& name) {
  const auto answer = as_object(call(context, Method::post, target, long_deadline));
  if (!answer) {
    if (!name.empty() && is_unknown(answer.error())) return say(context, "no such group: " + name);
    return finish(context, answer.error());
  }
  return print_changes(context, *answer,
                       {{"stopped", "stopped"},
                        {"removed", "removed process group"},
                        {"updated", "updated process group"},
                        {"added", "added process group"}},
                       "");
}

int update(const Context& context, const Names& names) {
  if (names.empty() || std::find(names.begin(), names.end(), "all") != names.end()) {
    return update_one(context, "/v1/update", "");
  }
  int exit_code = exit_status::ok;
  for (const std::string& word : names) {
    const std::string name = plain_name(word);
    exit_code = std::max(exit_code, update_one(context, target_of(name, "update"), name));
  }
  return exit_code;
}

std::string format_available(const json::array& rows) {
  std::string text;
  for (const json::value& value : rows) {
    const json::object& row = value.get_object();
    text += fmt::format("{:<32} {:<9} {}\n", clean(string_or(row, "name", "-")),
                        bool_or(row, "in_use", false) ? "in use" : "avail",
                        bool_or(row, "autostart", false) ? "auto" : "manual");
  }
  return text;
}

int show_available(const Context& context) {
  return print_rows(context, as_array(call(context, Method::get, "/v1/available")),
                    "No program is configured", format_available);
}

// add and remove of one program.
int move_one(const Context& context, const std::string& verb, const std::string& name) {
  const auto answer = as_object(call(context, Method::post, target_of(name, verb), long_deadline));
  if (!answer) {
    const bool unknown = is_unknown(answer.error());
    return unknown ? say(context, "no such process/group: " + name)
                   : finish(context, answer.error());
  }
  const std::string result = string_or(*answer, "result", "");
  const bool done = bool_or(*answer, "ok", false) || result == "already active";
  if (context.settings.json) {
    context.print_json(*answer);
    return done ? exit_status::ok : exit_status::failed;
  }
  if (bool_or(*answer, "ok", false)) {
    context.terminal.out << clean(name) << ": " << clean(result) << " process group\n";
    return exit_status::ok;
  }
  if (done) {  // no failure there either
    context.terminal.out << "ERROR: process group already active\n";
    return exit_status::ok;
  }
  if (const std::string more = string_or(*answer, "message", ""); !more.empty()) {
    context.terminal.err << clean(name) << ": " << clean(more) << '\n';
  }
  return say(context, "process/group " + result + ": " + name);
}

int move_each(const Context& context, const std::string& verb, const Names& names) {
  int exit_code = exit_status::ok;
  for (const std::string& word : names) {
    exit_code = std::max(exit_code, move_one(context, verb, plain_name(word)));
  }
  return exit_code;
}

}  // namespace

void add_changes(Cli& cli) {
  cli.on(cli.verb("reread", "compare the configuration file with what runs"), reread);
  auto& names = cli.keep<Names>();
  const Verb verb = cli.verb("update", "apply the changes that reread shows");
  verb.option("NAME", names, "only of these programs");
  cli.on(verb, names, update);
  cli.on(cli.verb("avail", "the programs of the configuration file"), show_available);
  const auto add = [&](const char* word, const char* help) {
    const Verb moving = cli.verb(word, help);
    moving.option("NAME", names, "program names").required();
    cli.on(moving,
           [&names, word](const Context& context) { return move_each(context, word, names); });
  };
  add("add", "take a program of the configuration file up");
  add("remove", "forget a stopped program until it is added again");
}

}  // namespace trainward::ctl
