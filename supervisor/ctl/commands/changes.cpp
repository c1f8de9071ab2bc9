// reread, update: what the configuration file has that the daemon has not.
#include "supervisor/ctl/cli.hpp"
#include "supervisor/ctl/source.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {
namespace {

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

}  // namespace

void add_changes(Cli& cli) {
  cli.on(cli.verb("reread", "compare the configuration file with what runs"), reread);
  cli.on(cli.verb("update", "apply the changes that reread shows"), update);
}

}  // namespace trainward::ctl
