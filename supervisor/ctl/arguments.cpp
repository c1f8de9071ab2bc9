#include "supervisor/ctl/arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>

#include "common/text.hpp"
#include "common/version.hpp"
#include "supervisor/ctl/arguments_cache.hpp"
#include "supervisor/ctl/arguments_checkpoint.hpp"
#include "supervisor/ctl/commands.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {
namespace {

// What the parsed options fill in; outlives the parse.
struct Parsed {
  Settings settings;
  bool no_colour = false;
  Names names;
  std::string name;
  std::string folder;
  std::int64_t attempt = 0;
  int limit = 100;
  TailRequest tail;
  ProbeRequest probe;
  ClassifyRequest classify;
  CheckpointArguments checkpoint;
  CacheArguments cache;
  Action action;
};

void add_control(CLI::App& app, Parsed& parsed) {
  auto* status_verb = app.add_subcommand("status", "state of every program, or of those named");
  status_verb->add_option("NAME", parsed.names);
  status_verb->callback([&] {
    parsed.action = [&](const Context& context) { return status(context, parsed.names); };
  });
  const auto control = [&](const char* verb, const char* help,
                           int (*command)(const Context&, const Names&)) {
    auto* sub = app.add_subcommand(verb, help);
    sub->add_option("NAME", parsed.names, "program names, or all")->required();
    sub->callback([&parsed, command] {
      parsed.action = [&parsed, command](const Context& context) {
        return command(context, parsed.names);
      };
    });
  };
  control("start", "start programs", start);
  control("stop", "stop programs: they save and exit", stop);
  control("restart", "stop, then start; the configuration is not read again", restart);

  auto* pid_verb = app.add_subcommand("pid", "process id of the daemon, a program, or all");
  pid_verb->add_option("NAME", parsed.name);
  pid_verb->callback(
      [&] { parsed.action = [&](const Context& context) { return pid(context, parsed.name); }; });
  const auto daemon = [&](const char* verb, const char* help, int (*command)(const Context&)) {
    app.add_subcommand(verb, help)->callback([&parsed, command] { parsed.action = command; });
  };
  daemon("reread", "compare the configuration file with what runs", reread);
  daemon("update", "apply the changes that reread shows", update);
  daemon("reload", "restart the daemon", reload);
  daemon("upgrade", "continue as the trainwardd that is installed now", upgrade);
  daemon("shutdown", "stop all programs and the daemon", shut_down);
  daemon("version", "version of the daemon", version);
}

void add_reading(CLI::App& app, Parsed& parsed) {
  auto* tail_verb = app.add_subcommand("tail", "the end of a program's log");
  tail_verb->add_flag("-f,--follow", parsed.tail.follow, "go on as it grows, across attempts");
  tail_verb->add_option("--bytes", parsed.tail.bytes, "how much; -N is short for it (1600)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 20));
  tail_verb->add_option("NAME", parsed.tail.program)->required();
  tail_verb->add_option("STREAM", parsed.tail.stream, "stdout or stderr")
      ->check(CLI::IsMember({"stdout", "stderr"}));
  tail_verb->callback([&] {
    if (parsed.tail.follow && parsed.settings.json) {
      throw CLI::ValidationError("--json", "does not go with --follow");
    }
    parsed.action = [&](const Context& context) { return tail(context, parsed.tail); };
  });

  auto* history_verb = app.add_subcommand("history", "a row for every attempt");
  history_verb->add_option("NAME", parsed.name);
  history_verb->callback([&] {
    parsed.action = [&](const Context& context) { return history(context, parsed.name); };
  });

  auto* why_verb = app.add_subcommand("why", "why an attempt ended, with the evidence");
  why_verb->add_option("NAME", parsed.name)->required();
  why_verb->add_option("ATTEMPT", parsed.attempt)->check(CLI::PositiveNumber);
  why_verb->callback([&] {
    parsed.action = [&](const Context& context) {
      return why(context, parsed.name,
                 parsed.attempt > 0 ? std::optional(parsed.attempt) : std::nullopt);
    };
  });

  auto* report_verb = app.add_subcommand("report", "what a run came to, and where its time went");
  report_verb->add_option("NAME", parsed.name)->required();
  report_verb->callback([&] {
    parsed.action = [&](const Context& context) { return report(context, parsed.name); };
  });

  auto* events_verb = app.add_subcommand("events", "what happened, newest last");
  events_verb->add_option("NAME", parsed.name);
  events_verb->add_option("-n,--lines", parsed.limit, "how many (100)")
      ->check(CLI::Range(1, 10000));
  events_verb->callback([&] {
    parsed.action = [&](const Context& context) {
      return events(context, parsed.name, parsed.limit);
    };
  });

  auto* boards_verb = app.add_subcommand("boards", "boards on record, and what they measured");
  boards_verb->add_option("SERIAL", parsed.name, "the samples of this one");
  boards_verb->add_option("-n,--lines", parsed.limit, "how many samples (100)")
      ->check(CLI::Range(1, 10000));
  boards_verb->callback([&] {
    parsed.action = [&](const Context& context) {
      if (parsed.name.empty()) return boards(context);
      return board_samples(context, parsed.name, parsed.limit);
    };
  });

  auto* probe_verb = app.add_subcommand("probe", "look at the hardware");
  auto* deep = probe_verb->add_flag("--deep", parsed.probe.deep,
                                    "also ask tt-smi about boards that nobody uses");
  probe_verb->add_flag("--watch", parsed.probe.watch, "look again and again, until Ctrl-C")
      ->excludes(deep);
  probe_verb->add_option("--every", parsed.probe.every_s, "seconds between two looks (5)")
      ->check(CLI::Range(0.1, 3600.0))
      ->needs("--watch");
  probe_verb->callback([&] {
    parsed.action = [&](const Context& context) { return probe(context, parsed.probe); };
  });
}

void add_files(CLI::App& app, Parsed& parsed) {
  auto* classify_verb = app.add_subcommand("classify", "why a log says that training failed");
  classify_verb->add_option("FILE", parsed.classify.file, "a log, or - for standard input")
      ->required();
  classify_verb->add_option("--rules", parsed.classify.rules, "a rules file of your own");
  auto* code = classify_verb->add_option("--exit-code", parsed.classify.exit_code,
                                         "how the process ended: its exit code");
  code->check(CLI::Range(0, 255));
  classify_verb
      ->add_option_function<std::string>(
          "--signal",
          [&parsed](const std::string& name) {
            parsed.classify.signal = signal_number(name);
            if (!parsed.classify.signal) throw CLI::ValidationError("--signal", "no such signal");
          },
          "how the process ended: SIGKILL, KILL or 9")
      ->excludes(code);
  classify_verb->callback([&] {
    parsed.action = [&](const Context& context) { return classify(context, parsed.classify); };
  });

  auto* config = app.add_subcommand("config", "configuration files: check, worker");
  config->require_subcommand(1)->fallthrough();
  auto* check = config->add_subcommand("check", "find every problem in a file")->fallthrough();
  check->add_option("FILE", parsed.folder)->required();
  check->callback([&] {
    parsed.action = [&](const Context& context) { return check_config(context, parsed.folder); };
  });
  auto* worker =
      config->add_subcommand("worker", "what trainward-worker is given, as JSON")->fallthrough();
  worker->add_option("FILE", parsed.folder)->required();
  worker->add_option("NAME", parsed.name, "the program, when there are several");
  worker->callback([&] {
    parsed.action = [&](const Context& context) {
      return show_worker_config(context, parsed.folder, parsed.name);
    };
  });
}

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
  Parsed parsed;
  parsed.settings.state_dir = default_state_dir;
  CLI::App app("Controls trainwardd, the training supervisor.", "trainwardctl");
  app.set_version_flag("--version", fmt::format("trainwardctl {}", version_text));
  app.add_option("-s,--socket", parsed.settings.socket, "the daemon's socket");
  app.add_option("--state-dir", parsed.settings.state_dir,
                 "the daemon's state folder (.trainward, or $TRAINWARD_STATE_DIR)");
  app.add_flag("--json", parsed.settings.json, "print one JSON document");
  app.add_flag("--no-color", parsed.no_colour, "no colours; also $NO_COLOR");
  app.fallthrough();  // inherited by the verbs: options may stand behind them too
  app.require_subcommand(1);
  add_control(app, parsed);
  add_reading(app, parsed);
  add_checkpoint_verbs(app, parsed.checkpoint, parsed.action);
  add_cache_verbs(app, parsed.cache, parsed.action);
  add_files(app, parsed);

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
  if (parsed.no_colour) terminal.colour = false;
  return parsed.action(Context{parsed.settings, terminal});
}

}  // namespace trainward::ctl
