// config show: what would be started next, and where, and as whom; from the configuration file
// alone.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/base/text.hpp"
#include "common/os/host_files.hpp"
#include "common/protocol/protocol.hpp"
#include "common/yaml/scalar.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/config/launch_environment.hpp"
#include "supervisor/config/secrets.hpp"
#include "supervisor/ctl/cli.hpp"
#include "supervisor/ctl/client.hpp"
#include "supervisor/ctl/source.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_environment_bytes = 1 << 20;

struct ShowRequest {
  std::string name;  // of a program; empty: the only one
  std::string file;  // empty: the usual one
};

// The variables of a daemon that runs with this configuration, as far as it may be looked at.
struct Inherited {
  std::int64_t daemon = 0;  // its process; 0: none is known, and these are this command's own
  config::Environment variables;
};

Inherited inherited_from(const fs::path& socket) {
  const Inherited own{0, config::environment_from(::environ)};
  const Client client(socket);
  const auto version = client.document(Method::get, "/v1/version", short_deadline);
  if (!version || !version->is_object()) return own;
  const std::int64_t pid = int_or(version->get_object(), "pid", 0);
  if (pid <= 0) return own;
  const auto bytes = host::read_some(fmt::format("/proc/{}/environ", pid), most_environment_bytes);
  if (!bytes || bytes->empty()) return own;
  std::vector<const char*> list;
  for (std::size_t at = 0; at < bytes->size(); at += std::strlen(list.back()) + 1) {
    list.push_back(bytes->c_str() + at);
  }
  list.push_back(nullptr);
  return {pid, config::environment_from(list.data())};
}

// What is known before an attempt; what is not stands there as its name.
foreign::Values values_before(const config::Program& program, const fs::path& checkpoint_dir) {
  foreign::Values values;
  for (const std::string_view name : foreign::launch_names()) {
    values[std::string(name)] = fmt::format("{{{}}}", name);
  }
  foreign::LaunchFacts facts;
  facts.checkpoint_dir = checkpoint_dir.string();
  facts.configured.block = program.shrinking.block;
  facts.configured.batch = program.shrinking.batch;
  facts.configured.checkpoint_every = program.cadence.max_steps;
  foreign::Values known = foreign::values_of(facts);
  for (const char* name :
       {"checkpoint_dir", "block", "batch", "accumulation", "checkpoint_every"}) {
    values[name] = known[name];
  }
  if (!program.needs_board) values["devices"] = values["serial"] = "";
  return values;
}

// An argument of the command; several where they stand or fall together.
struct Word {
  std::vector<std::string> texts;
  bool together = false;
};

std::vector<Word> words_of(const config::Program& program, const foreign::Values& values,
                           const fs::path& run) {
  if (program.command.empty()) {
    return {{{"trainward-worker"}},
            {{"train"}},
            {{"--config"}},
            {{(run / "attempts" / "{attempt}" / "worker.json").string()}}};
  }
  std::vector<Word> words;
  for (const foreign::Argument& argument : program.command) {
    Word word{{}, argument.together};
    bool empty = false;
    for (const foreign::Template& text : argument.words) {
      auto filled = text.fill(values);
      empty = empty || filled.empty_value;
      word.texts.push_back(std::move(filled.text));
    }
    if (!word.together || !empty) words.push_back(std::move(word));
  }
  return words;
}

// Their values are hidden one list after the other, as a value may follow its option in the next.
void hide_secrets(std::vector<Word>& words) {
  std::vector<std::string> all;
  for (const Word& word : words) all.insert(all.end(), word.texts.begin(), word.texts.end());
  all = config::without_secrets(all);
  auto next = all.begin();
  for (Word& word : words) {
    for (std::string& text : word.texts) text = std::move(*next++);
  }
}

json::object variables_json(const config::Environment& variables) {
  json::object out;
  for (const auto& [name, value] : variables) {
    out[name] = config::looks_secret(name, value) ? config::hidden : value;
  }
  return out;
}

std::string limit_text(std::uint64_t value, bool bytes) {
  if (value == unlimited) return "unlimited";
  return bytes ? yaml::size_text(static_cast<std::int64_t>(value)) : std::to_string(value);
}

json::object limits_json(const config::Program& program) {
  json::object out;
  if (program.memory_limit_bytes > 0) out["memory"] = yaml::size_text(program.memory_limit_bytes);
  for (const ResourceLimit& limit : program.resource_limits) {
    const bool bytes = find_resource(limit.name)->bytes;
    std::string text = limit_text(limit.soft, bytes);
    if (limit.hard != limit.soft) text += ":" + limit_text(limit.hard, bytes);
    out[limit.name] = text;
  }
  return out;
}

json::value user_json(const config::Program& program) {
  if (!program.user) return nullptr;
  const Credentials& who = program.user->credentials;
  return json::object{{"name", program.user->name},
                      {"uid", who.user},
                      {"gid", who.group},
                      {"groups", json::value_from(who.groups)}};
}

json::object describe(const config::Config& config, const config::Program& program) {
  const fs::path run = config.state_dir / "runs" / program.name;
  const fs::path checkpoint_dir = run / "checkpoints";
  const foreign::Values values = values_before(program, checkpoint_dir);
  const Inherited daemon = inherited_from(config.socket);
  auto inherited = config::inherited_by(program, daemon.variables);
  auto all = config::environment_of(program, values, daemon.variables);
  // What the configuration and Trainward put there, whatever is inherited.
  auto own = config::environment_of(program, values, {});
  std::erase_if(inherited, [&](const auto& variable) { return own.contains(variable.first); });
  own[env::run] = program.name;
  own[env::checkpoint_dir] = checkpoint_dir.string();

  std::vector<Word> words = words_of(program, values, run);
  const std::string first = words.empty() ? "" : words.front().texts.front();
  hide_secrets(words);
  json::array command;
  for (const Word& word : words) {
    if (word.together) {
      command.emplace_back(json::value_from(word.texts));
    } else {
      command.emplace_back(word.texts.front());
    }
  }
  const ActingAs acting(config::user_of(program));  // who may see less than root
  const fs::path file =
      program.command.empty()
          ? fs::path()
          : config::program_file(first, all["PATH"].empty() ? "/usr/bin:/bin" : all["PATH"],
                                 program.directory);
  json::object watch = config::to_json(program).at("watch").get_object();
  watch["preset"] = program.watch.preset;  // in force, said or not
  return {{"name", program.name},
          {"file", config.file.string()},
          {"command", std::move(command)},
          {"own_worker", program.command.empty()},
          {"program", file.empty() ? json::value(nullptr) : json::value(file.string())},
          {"path", all["PATH"]},
          {"directory", program.directory.string()},
          {"user", user_json(program)},
          {"umask", program.umask ? json::value(fmt::format("{:03o}", *program.umask))
                                  : json::value(nullptr)},
          {"limits", limits_json(program)},
          {"environment", variables_json(own)},
          {"daemon", daemon.daemon > 0 ? json::value(daemon.daemon) : json::value(nullptr)},
          {"inherited",
           daemon.daemon > 0 ? json::value(variables_json(inherited)) : json::value(nullptr)},
          {"watch", std::move(watch)}};
}

// As it could be typed in a shell.
std::string in_quotes(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-{}()";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string command_text(const json::array& command) {
  std::vector<std::string> words;
  for (const json::value& word : command) {
    if (const json::array* group = word.if_array()) {
      std::vector<std::string> together;
      for (const json::value& one : *group) {
        together.push_back(in_quotes(std::string(one.get_string())));
      }
      words.push_back(fmt::format("[{}]", fmt::join(together, " ")));
    } else {
      words.push_back(in_quotes(std::string(word.get_string())));
    }
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string watch_text(const json::object& watch) {
  std::vector<std::string> parts;
  const auto add = [&](const char* key) {
    const std::string text = string_or(watch, key, "");
    if (!text.empty()) parts.push_back(fmt::format("{} {}", key, text));
  };
  add("status_file");
  add("preset");
  if (const auto log = get_array(watch, "log"); log && !(*log)->empty()) {
    parts.push_back(count(static_cast<std::int64_t>((*log)->size()), "log rule"));
  }
  if (const auto globs = get_array(watch, "checkpoints"); globs && !(*globs)->empty()) {
    std::vector<std::string> texts;
    for (const json::value& glob : **globs) texts.emplace_back(glob.get_string());
    parts.push_back(fmt::format("checkpoints {}", fmt::join(texts, " ")));
  }
  if (bool_or(watch, "protocol", false)) parts.emplace_back("protocol");
  if (bool_or(watch, "cpu_time", false)) parts.emplace_back("cpu_time");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string user_text(const json::value& user) {
  const json::object* who = user.if_object();
  if (who == nullptr) return "that of trainwardd";
  std::vector<std::string> groups;
  for (const json::value& group : who->at("groups").get_array()) {
    groups.push_back(std::to_string(group.to_number<std::int64_t>()));
  }
  return fmt::format("{} (uid {}, gid {}, groups {})", string_or(*who, "name", ""),
                     int_or(*who, "uid", 0), int_or(*who, "gid", 0), fmt::join(groups, " "));
}

std::string variable_lines(const json::object& variables) {
  std::string text;
  for (const auto& [name, value] : variables) {
    text += fmt::format("  {}={}\n", clean(name), clean(value.get_string()));
  }
  return text;
}

std::string text_of(const json::object& program) {
  const json::array& command = program.at("command").get_array();
  const bool own_worker = bool_or(program, "own_worker", false);
  const std::string watch = watch_text(program.at("watch").get_object());
  std::vector<std::string> limits;
  for (const auto& [name, value] : program.at("limits").get_object()) {
    limits.push_back(fmt::format("{} {}", std::string_view(name), value.get_string().c_str()));
  }
  std::string text;
  const auto line = [&](std::string_view key, const std::string& value) {
    text += fmt::format("{:<12}{}\n", key, clean(value));
  };
  line("program", string_or(program, "name", ""));
  line("from", string_or(program, "file", ""));
  line("command", command_text(command));
  if (!own_worker) {
    line("starts", program.at("program").is_null()
                       ? fmt::format("no such program in PATH ({})", string_or(program, "path", ""))
                       : string_or(program, "program", ""));
  }
  line("directory", string_or(program, "directory", ""));
  line("user", user_text(program.at("user")));
  line("umask", string_or(program, "umask", "that of trainwardd"));
  line("limits",
       limits.empty() ? "those of trainwardd" : fmt::format("{}", fmt::join(limits, ", ")));
  line("watch", own_worker ? "the worker protocol" : watch);
  text += "environment, besides TRAINWARD_* of each attempt:\n";
  text += variable_lines(program.at("environment").get_object());
  if (program.at("inherited").is_null()) {
    return text +
           "The rest is what trainwardd is started with. None answers here, so PATH is this "
           "shell's: a service has a short one, and no HOME\n";
  }
  text += fmt::format("inherited from trainwardd (process {}):\n", int_or(program, "daemon", 0));
  return text + variable_lines(program.at("inherited").get_object());
}

const config::Program* find_named(const std::vector<config::Program>& programs,
                                  const std::string& name) {
  if (name.empty()) return programs.size() == 1 ? &programs.front() : nullptr;
  const auto found = std::find_if(programs.begin(), programs.end(),
                                  [&](const auto& program) { return program.name == name; });
  return found == programs.end() ? nullptr : &*found;
}

int show_config(const Context& context, const ShowRequest& request) {
  std::error_code error;
  const std::string file = request.file.empty() ? config::usual_file : request.file;
  if (request.file.empty() && !fs::exists(file, error)) {
    context.terminal.err << fmt::format(
        "no {} here: name the file behind the program, or let 'trainwardctl init' write one\n",
        config::usual_file);
    return exit_status::usage;
  }
  const auto config = config::load(file, fs::current_path(error), {}, config::Accept::pipes);
  if (!config) {
    for (const auto& problem : config.error())
      context.terminal.err << clean(problem.text()) << '\n';
    return exit_status::failed;
  }
  const config::Program* program = find_named(config->programs, request.name);
  if (program == nullptr) {
    std::vector<std::string> names;
    for (const config::Program& one : config->programs) names.push_back(one.name);
    context.terminal.err << clean(fmt::format("{}: {}; it has {}", file,
                                              request.name.empty()
                                                  ? "name a program"
                                                  : "has no program " + request.name,
                                              fmt::join(names, ", ")))
                         << '\n';
    return exit_status::failed;
  }
  const json::object shown = describe(*config, *program);
  if (context.settings.json) {
    context.print_json(shown);
  } else {
    context.terminal.out << text_of(shown);
  }
  return exit_status::ok;
}

}  // namespace

void add_config_show(Cli& cli) {
  auto& request = cli.keep<ShowRequest>();
  const Verb verb = cli.verb("config show", "what a program is started with, secrets left out");
  verb.option("NAME", request.name, "the program, when there are several");
  verb.option("FILE", request.file, "trainward.yaml, when none is named");
  cli.on(verb, request, show_config);
}

}  // namespace trainward::ctl
