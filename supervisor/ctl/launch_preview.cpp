#include "supervisor/ctl/launch_preview.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/base/text.hpp"
#include "common/os/processes/host_files.hpp"
#include "common/protocol/protocol.hpp"
#include "common/yaml/scalar.hpp"
#include "supervisor/config/launch_environment.hpp"
#include "supervisor/config/reading/secrets.hpp"
#include "supervisor/ctl/client/client.hpp"
#include "supervisor/ctl/client/source.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_environment_bytes = 1 << 20;

// The variables of a daemon that runs with this configuration, as far as it may be looked at.
struct Inherited {
  std::int64_t daemon = 0;  // its process; 0: none is known, and these are this command's own
  config::Environment variables;
};

Inherited inherited_from(const fs::path& socket) {
  Inherited own{0, config::environment_from(::environ)};
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

}  // namespace

json::object launch_preview(const config::Config& config, const config::Program& program) {
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

}  // namespace trainward::ctl
