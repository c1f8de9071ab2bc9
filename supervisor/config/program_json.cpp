#include "supervisor/config/program_json.hpp"

#include <algorithm>
#include <vector>

#include "supervisor/config/config.hpp"

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

}  // namespace

std::string canonical_json(const json::value& value) { return json::serialize(sorted(value)); }

json::object to_json(const Program& program) {
  json::object environment;
  for (const auto& [name, value] : program.environment) environment[name] = value;
  json::array command;
  for (const std::string& word : program.command) command.emplace_back(word);
  const Deadlines& deadlines = program.deadlines;

  json::object out;
  out["name"] = program.name;
  out["autostart"] = program.autostart;
  out["autorestart"] = json::string_view(to_string(program.autorestart));
  out["command"] = std::move(command);
  out["directory"] = program.directory.string();
  out["environment"] = std::move(environment);
  out["worker"] = program.worker;
  out["host"] = program.host ? json::value(program.host->string()) : json::value(nullptr);
  out["checkpoints"] = {{"keep", program.checkpoints_keep}};
  out["deadlines"] = {
      {"start_ms", deadlines.start_ms},     {"load_ms", deadlines.load_ms},
      {"compile_ms", deadlines.compile_ms}, {"train_floor_ms", deadlines.train_floor_ms},
      {"save_ms", deadlines.save_ms},       {"stop_ms", deadlines.stop_ms}};
  out["budgets"] = {{"attempts", program.budgets.attempts},
                    {"attempts_without_progress", program.budgets.attempts_without_progress}};
  out["backoff"] = {{"first_ms", program.backoff.first_ms}, {"max_ms", program.backoff.max_ms}};
  if (!program.digest.empty()) out["digest"] = program.digest;
  return out;
}

}  // namespace trainward::config
