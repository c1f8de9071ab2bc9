#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "supervisor/config/config.hpp"
#include "supervisor/config/sections.hpp"
#include "supervisor/decide/core/reflect.hpp"

namespace trainward::config {
namespace {

std::string_view to_string(Autorestart autorestart) {
  switch (autorestart) {
    case Autorestart::always:
      return "always";
    case Autorestart::unexpected:
      return "unexpected";
    case Autorestart::never:
      return "never";
  }
  return "unexpected";
}

json::value sorted(const json::value& value) {
  if (const auto* array = value.if_array()) {
    json::array out;
    for (const json::value& item : *array) out.push_back(sorted(item));
    return out;
  }
  const auto* object = value.if_object();
  if (object == nullptr) return value;
  std::vector<const json::key_value_pair*> members;
  for (const auto& member : *object) members.push_back(&member);
  std::sort(members.begin(), members.end(),
            [](const auto* a, const auto* b) { return a->key() < b->key(); });
  json::object out;
  for (const auto* member : members) out[member->key()] = sorted(member->value());
  return out;
}

json::array words_json(const std::vector<foreign::Template>& words) {
  json::array out;
  for (const foreign::Template& word : words) out.emplace_back(word.text());
  return out;
}

// As in the file: a text an argument, a list for those that stand or fall together.
json::array command_json(const foreign::Command& command) {
  json::array out;
  for (const foreign::Argument& argument : command) {
    json::array words = words_json(argument.words);
    if (argument.together) {
      out.emplace_back(std::move(words));
    } else {
      out.push_back(words.at(0));
    }
  }
  return out;
}

// What a section says that is there by itself is left out.
json::object watch_json(const foreign::WatchSpec& watch, bool of_worker) {
  json::array log;
  for (const foreign::LogRule& rule : watch.log) {
    log.push_back(json::object{{"match", rule.match}, {"phase", rule.phase}});
  }
  json::object out;
  out["status_file"] = watch.status_file.string();
  out["keys"] = core::reflect::write(watch.keys);
  out["log"] = std::move(log);
  out["checkpoints"] = json::value_from(watch.checkpoints);
  out["cpu_time"] = watch.cpu_time;
  out["protocol"] = watch.protocol;
  if (!of_worker && watch.preset != foreign::usual_preset(watch)) out["preset"] = watch.preset;
  return out;
}

// Only what is given is in it: a program without has the digest that it had in earlier versions.
// Not the groups: a directory service that leaves one out for a moment must not end a training run.
void add_run_as(const Program& program, json::object& out) {
  if (program.user) {
    out["user"] = {{"name", program.user->name},
                   {"uid", program.user->credentials.user},
                   {"gid", program.user->credentials.group}};
  }
  if (program.umask) out["umask"] = fmt::format("{:03o}", *program.umask);
  if (program.stop_signal != SIGTERM) out["stop_signal"] = stop_signal_name(program.stop_signal);
  if (program.exit_codes != core::ExitCodes{0}) {
    out["exit_codes"] = json::value_from(program.exit_codes);
  }
  for (const ResourceLimit& limit : program.resource_limits) {
    const auto text = [](std::uint64_t value) {
      return value == unlimited ? "unlimited" : std::to_string(value);
    };
    out["limits"].as_object()[limit.name] = {text(limit.soft), text(limit.hard)};
  }
}

// As add_run_as(): what is as usual is left out.
void add_mesh_rules(const Program& program, json::object& out) {
  const Program usual;
  if (program.min_chips != usual.min_chips) out["min_chips"] = program.min_chips;
  if (program.grow_after_ms != usual.grow_after_ms) out["grow_after_ms"] = program.grow_after_ms;
  if (program.rest_ms != (program.host ? 0 : usual.rest_ms)) out["rest_ms"] = program.rest_ms;
}

}  // namespace

std::string canonical_json(const json::value& value) { return json::serialize(sorted(value)); }

json::object to_json(const Program& program) {
  json::object environment;
  for (const auto& [name, value] : program.environment) environment[name] = value.text();

  json::object out;
  out["name"] = program.name;
  out["autostart"] = program.autostart;
  if (program.standby) out["standby"] = true;  // digests of before it was there are as they were
  out["autorestart"] = json::string_view(to_string(program.autorestart));
  out["command"] = command_json(program.command);
  out["directory"] = program.directory.string();
  out["environment"] = std::move(environment);
  out["worker"] = program.worker;
  out["needs_board"] = program.needs_board;
  out["host"] = program.host ? json::value(program.host->string()) : json::value(nullptr);
  out["sample_every_ms"] = program.sample_every_ms;
  out["watch"] = watch_json(program.watch, program.command.empty());
  out["mesh"] = program.mesh ? json::value(json::array{program.mesh->rows, program.mesh->columns})
                             : json::value(nullptr);
  add_mesh_rules(program, out);
  out["probe_command"] = words_json(program.probe_command);
  out["reset_command"] = words_json(program.reset_command);
  out["checkpoints"] = {{"keep", program.checkpoints_keep},
                        {"keep_every", program.checkpoints_keep_every},
                        {"adaptive", program.cadence.adaptive},
                        {"on_stop", program.saves_when_asked},
                        {"every", program.cadence.max_steps}};
  if (program.prunes_foreign) out["checkpoints"].as_object()["foreign"] = true;
  out["deadlines"] = core::reflect::write(program.deadlines);
  out["deadlines"].as_object()["settle_ms"] = program.settle_ms;
  out["budgets"] = core::reflect::write(program.budgets);
  out["backoff"] = core::reflect::write(program.backoff);
  out["plan"] = core::reflect::write(program.shrinking);
  out["rollback"] = core::reflect::write(program.rollback);
  out["quarantine"] = core::reflect::write(program.quarantine);
  out["logs"] = {{"max_bytes", program.log_max_bytes}, {"keep", program.log_keep}};
  out["limits"] = {{"memory_bytes", program.memory_limit_bytes}};
  if (program.steps_keep > 0) out["steps"] = {{"keep", program.steps_keep}};
  add_run_as(program, out);
  if (!program.upload.targets.empty()) out["upload"] = orders::to_json(program.upload);
  if (!program.tracking.empty()) out["tracking"] = orders::to_json(program.tracking);
  if (!program.digest.empty()) out["digest"] = program.digest;
  return out;
}

}  // namespace trainward::config
