#include "supervisor/ctl/arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "common/base/terminal_text.hpp"
#include "common/base/text.hpp"
#include "common/base/version.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/base/endpoint.hpp"
#include "supervisor/ctl/base/shell.hpp"
#include "supervisor/ctl/client/reach.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_words.hpp"

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

// What people type who come from elsewhere, and what does the same here.
struct ForeignVerb {
  std::string_view word;
  std::string_view here;
};
constexpr std::array<ForeignVerb, 12> foreign_verbs{{
    {"fg", "a worker has no terminal; 'tail -f NAME' shows what it prints"},
    {"exit", "it ends the shell, which 'trainwardctl' alone begins"},
    {"quit", "it ends the shell, which 'trainwardctl' alone begins"},
    {"kill", "'signal KILL NAME' sends a signal, 'stop NAME' lets it save first"},
    {"logs", "'tail NAME' shows them"},
    {"log", "'tail NAME' shows it"},
    {"ps", "'status' lists the programs"},
    {"curve", "'top' draws the loss, 'open' shows the page"},
    {"loss", "'top' draws the loss, 'open' shows the page"},
    {"plot", "'top' draws the loss, 'open' shows the page"},
    {"dashboard", "'open' shows the page, 'top' is one in the terminal"},
    {"list", "'status' lists the programs, 'avail' those of the configuration file"},
}};

constexpr std::array<std::string_view, 11> options_with_a_value{
    "-s", "--socket",   "--serverurl", "--state-dir", "-c",    "--configuration",
    "-u", "--username", "-p",          "--password",  "--host"};

// Where the first word stands that is neither an option nor the value of one.
std::size_t verb_at(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const auto& valued = options_with_a_value;
    const bool takes_next = std::find(valued.begin(), valued.end(), word) != valued.end();
    if (takes_next) ++i;
    if (!takes_next && !word.empty() && word[0] != '-') return i;
  }
  return arguments.size();
}

// A command in one word ("signal USR1"), as Ansible passes it, in several; `help VERB` as
// `VERB --help`.
void part_the_verb(std::vector<std::string>& arguments) {
  const std::size_t at = verb_at(arguments);
  if (at == arguments.size()) return;
  const auto verb = arguments.begin() + static_cast<std::ptrdiff_t>(at);
  if (verb->find(' ') != std::string::npos) {
    if (const auto words = words_of_line(*verb); words && !words->empty()) {
      const auto behind = arguments.erase(verb);
      arguments.insert(behind, words->begin(), words->end());
    }
  }
  if (arguments[at] == "help") {
    arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(at));
    arguments.emplace_back("--help");
  }
}

Names verbs_below(const CLI::App& level) {
  Names names;
  for (const CLI::App* verb : level.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

const CLI::App* below(const CLI::App& level, const std::string& word) {
  const auto verbs = level.get_subcommands([](const CLI::App*) { return true; });
  const auto found = std::find_if(verbs.begin(), verbs.end(),
                                  [&](const CLI::App* verb) { return verb->get_name() == word; });
  return found == verbs.end() ? nullptr : *found;
}

// Why a word that should be a verb is not one; empty when all is well.
std::string unknown_verb(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* level = &app;
  for (std::size_t i = verb_at(arguments); i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word.empty() || word[0] == '-') continue;
    const Names names = verbs_below(*level);
    if (names.empty()) return {};
    if (const CLI::App* verb = below(*level, word)) {
      level = verb;
      continue;
    }
    const std::string unknown = "unknown command '" + clean(word) + "'";
    const auto* const foreign =
        std::find_if(foreign_verbs.begin(), foreign_verbs.end(),
                     [&](const ForeignVerb& known) { return known.word == word; });
    if (level == &app && foreign != foreign_verbs.end()) {
      return unknown + ": " + std::string(foreign->here);
    }
    const std::vector<std::string_view> views(names.begin(), names.end());
    const std::string suggestion = nearest(word, views);
    return unknown + (suggestion.empty() ? "; trainwardctl --help lists them"
                                         : "; did you mean '" + suggestion + "'?");
  }
  return {};
}

// The options that every command has, some of them only for supervisorctl's scripts.
struct Given {
  std::string state_dir;
  std::string server;
  std::string configuration;
  bool no_colour = false;
};

void add_options(CLI::App& app, Given& given, Settings& settings) {
  app.set_version_flag("--version", fmt::format("trainwardctl {}", version_text));
  app.add_option("-s,--socket,--serverurl", given.server,
                 "the daemon's socket: a path, or unix:///PATH");
  app.add_option("--host", settings.host,
                 "another machine's daemon, through ssh: ssh://[user@]host[:port][/state/folder]");
  app.add_option("--state-dir", given.state_dir,
                 "the daemon's state folder (.trainward, or $TRAINWARD_STATE_DIR)");
  app.add_option("-c,--configuration", given.configuration,
                 "trainwardd's configuration, which names both");
  app.add_flag("--json", settings.json, "print one JSON document");
  app.add_flag("--utc", settings.utc, "times in UTC, not in local time");
  app.add_flag("--no-color", given.no_colour, "no colours; also $NO_COLOR");
  // A socket asks for neither; what is given is forgotten at once.
  const auto forget = [](const std::string&) {};
  app.add_option_function<std::string>("-u,--username", forget,
                                       "accepted for compatibility, ignored");
  app.add_option_function<std::string>("-p,--password", forget,
                                       "accepted for compatibility, ignored");
}

Status take(const Given& given, Settings& settings, Terminal& terminal) {
  if (!given.configuration.empty()) {
    if (auto taken = take_configuration(given.configuration, settings, terminal.err); !taken) {
      return taken;
    }
  }
  if (!given.state_dir.empty()) {
    settings.state_dir = given.state_dir;
    settings.socket.clear();
  }
  if (!given.server.empty()) {
    if (auto taken = take_server(given.server, settings); !taken) return taken;
    settings.socket_alone = given.state_dir.empty() && given.configuration.empty();
  }
  const bool here =
      !given.state_dir.empty() || !given.configuration.empty() || !settings.socket.empty();
  if (!settings.is_here() && here) {
    return fail(ErrorKind::usage,
                "--host does not go with a folder, socket or configuration of this machine",
                settings.host, "name them in the address: ssh://HOST/path/to/state/folder");
  }
  if (given.no_colour) terminal.colour = false;
  return {};
}

int wrong_use(const Terminal& terminal, const std::string& what) {
  terminal.err << "trainwardctl: " << clean_lines(what) << '\n';
  return exit_status::usage;
}

// What the daemon has, for Tab; nothing when it does not answer at once, as another machine's, to
// which there is no connection between two commands.
Names programs_of(const Context& context) {
  constexpr std::chrono::milliseconds patience{1'000};
  Names names;
  if (!context.settings.is_here()) return names;
  const auto rows = as_array(call(context, Method::get, "/v1/programs", patience));
  if (!rows) return names;
  for (const json::value& row : *rows) names.push_back(string_or(row.get_object(), "name", ""));
  names.emplace_back("all");
  return names;
}

Names words_behind(const CLI::App& app, const Context& context, Names words) {
  if (!words.empty() && words.front() == "help") words.erase(words.begin());
  if (words.empty()) {
    Names verbs = verbs_below(app);
    verbs.insert(verbs.end(), {"help", "exit"});
    return verbs;
  }
  const CLI::App* verb = below(app, words.front());
  Names below_it = verb == nullptr || words.size() > 1 ? Names() : verbs_below(*verb);
  return below_it.empty() ? programs_of(context) : below_it;
}

int begin_shell(const CLI::App& app, const Context& context) {
  if (context.terminal.in == nullptr) {
    return wrong_use(context.terminal, "no command; trainwardctl --help lists them");
  }
  const Settings& settings = context.settings;
  std::vector<std::string> options{"--state-dir", settings.state_dir.string(), "--socket",
                                   settings.socket_path().string()};
  if (!settings.is_here()) options = {"--host", settings.host};
  if (settings.json) options.emplace_back("--json");
  if (settings.utc) options.emplace_back("--utc");
  const Shell shell{[&](const Names& words) {
                      std::vector<std::string> arguments = options;
                      arguments.insert(arguments.end(), words.begin(), words.end());
                      Terminal terminal = context.terminal;
                      terminal.in =
                          nullptr;  // a line without a command begins no shell in the shell
                      return run(std::move(arguments), settings.state_dir, terminal);
                    },
                    [&](const Names& words) { return words_behind(app, context, words); }};
  return run_shell(shell, context.terminal);
}

// A disk that is full, a pipe that was closed: what was asked for has not come to anybody.
int said_whole(int code, Terminal& terminal) {
  terminal.out.flush();
  if (terminal.out || code != exit_status::ok) return code;
  terminal.err << "trainwardctl: stdout takes no more: what it has is not whole\n";
  return exit_status::failed;
}

}  // namespace

int run(std::vector<std::string> arguments, const std::filesystem::path& default_state_dir,
        Terminal& terminal) {
  CLI::App app("Controls trainwardd, the training supervisor. Without a command: a shell.",
               "trainwardctl");
  Cli cli(app);
  cli.settings.state_dir = default_state_dir;
  Given given;
  add_options(app, given, cli.settings);
  app.fallthrough();  // inherited by the verbs: options may stand behind them too
  app.require_subcommand(0, 1);
  add_commands(cli);

  part_the_verb(arguments);
  if (const std::string wrong = unknown_verb(app, arguments); !wrong.empty()) {
    return wrong_use(terminal, wrong);
  }
  spell_out_bytes(arguments);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    const auto groups = app.get_subcommands();
    const Names verbs = groups.empty() ? Names() : verbs_below(*groups.front());
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) &&
        !verbs.empty()) {
      return wrong_use(terminal, fmt::format("'{}' is followed by one of: {}",
                                             groups.front()->get_name(), fmt::join(verbs, ", ")));
    }
    const int code = app.exit(error, terminal.out, terminal.err);
    return code == 0 ? exit_status::ok : exit_status::usage;
  }
  if (const auto taken = take(given, cli.settings, terminal); !taken) {
    return wrong_use(terminal, clean(taken.error().message()));
  }
  if (!cli.action()) return begin_shell(app, Context{cli.settings, terminal});
  if (!cli.settings.is_here()) {
    const auto verbs = app.get_subcommands();
    const std::string verb = verbs.empty() ? "" : verbs.front()->get_name();
    const Context before{cli.settings, terminal};
    if (const auto failure = remote::reach(cli.settings, verb, terminal)) {
      return finish(before, *failure);
    }
  }
  return said_whole(cli.action()(Context{cli.settings, terminal}), terminal);
}

}  // namespace trainward::ctl
