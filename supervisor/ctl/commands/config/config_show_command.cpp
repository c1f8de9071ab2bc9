// config show: what would be started next, and where, and as whom; from the configuration file
// alone.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "common/yaml/scalar.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/launch_preview.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;

struct ShowRequest {
  std::string name;  // of a program; empty: the only one
  std::string file;  // empty: the usual one
};

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
  const json::object shown = launch_preview(*config, *program);
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
