#include "supervisor/ctl/arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/version.hpp"
#include "supervisor/ctl/cli.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {
namespace {

// "-500" is tail's short form for a number of bytes, which CLI11 would take for an option. Behind
// "--" it is a program's name.
void spell_out_bytes(std::vector<std::string>& arguments) {
  for (std::string& argument : arguments) {
    if (argument == "--") return;
    if (argument.size() > 1 && argument[0] == '-' &&
        argument.find_first_not_of("0123456789", 1) == std::string::npos) {
      argument = "--bytes=" + argument.substr(1);
    }
  }
}

// The first word that should be a verb and is none; empty when there is no such word.
std::string unknown_verb(const CLI::App& app, const std::vector<std::string>& arguments,
                         std::string& suggestion) {
  const CLI::App* level = &app;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "-s" || word == "--socket" || word == "--state-dir") ++i;  // and its value
    if (word.empty() || word[0] == '-') continue;
    const auto verbs = level->get_subcommands([](const CLI::App*) { return true; });
    if (verbs.empty()) return {};
    const auto found = std::find_if(verbs.begin(), verbs.end(),
                                    [&](const CLI::App* verb) { return verb->get_name() == word; });
    if (found == verbs.end()) {
      std::vector<std::string> names;
      names.reserve(verbs.size());
      for (const CLI::App* verb : verbs) names.push_back(verb->get_name());
      const std::vector<std::string_view> views(names.begin(), names.end());
      suggestion = nearest(word, views);
      return word;
    }
    level = *found;
  }
  return {};
}

}  // namespace

int run(std::vector<std::string> arguments, const std::filesystem::path& default_state_dir,
        Terminal& terminal) {
  CLI::App app("Controls trainwardd, the training supervisor.", "trainwardctl");
  Cli cli(app);
  cli.settings.state_dir = default_state_dir;
  bool no_colour = false;
  app.set_version_flag("--version", fmt::format("trainwardctl {}", version_text));
  app.add_option("-s,--socket", cli.settings.socket, "the daemon's socket");
  app.add_option("--state-dir", cli.settings.state_dir,
                 "the daemon's state folder (.trainward, or $TRAINWARD_STATE_DIR)");
  app.add_flag("--json", cli.settings.json, "print one JSON document");
  app.add_flag("--no-color", no_colour, "no colours; also $NO_COLOR");
  app.fallthrough();  // inherited by the verbs: options may stand behind them too
  app.require_subcommand(1);
  add_commands(cli);

  std::string suggestion;
  if (const std::string word = unknown_verb(app, arguments, suggestion); !word.empty()) {
    terminal.err << "trainwardctl: unknown command '" << clean(word) << "'"
                 << (suggestion.empty() ? "; trainwardctl --help lists them"
                                        : "; did you mean '" + suggestion + "'?")
                 << '\n';
    return exit_status::usage;
  }
  spell_out_bytes(arguments);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error, terminal.out, terminal.err);
    return code == 0 ? exit_status::ok : exit_status::usage;
  }
  if (no_colour) terminal.colour = false;
  return cli.action()(Context{cli.settings, terminal});
}

}  // namespace trainward::ctl
