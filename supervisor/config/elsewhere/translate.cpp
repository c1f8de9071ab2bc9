#include "supervisor/config/elsewhere/translate.hpp"

#include <algorithm>
#include <utility>

#include "common/settings/worker_settings.hpp"
#include "supervisor/config/elsewhere/setting_entry.hpp"

namespace trainward::config::elsewhere {
namespace {

using yaml::Member;
using yaml::Node;

// `model: {llama: {…}}`, `{folder: PATH}` and `{config: FILE}` are keys of their own.
void open_model(Entry& entry) {
  constexpr std::string_view key = "training_config.model";
  const Node* model = entry.find(key);
  if (model == nullptr || model->kind != Node::Kind::map) return;
  const std::string where = entry.path() + "." + std::string(key);
  Member taken = *entry.take(key);
  if (taken.value.members.size() != 1) {
    return entry.report(where, taken.value.mark,
                        "expected a preset, or a map with one of llama, folder and config");
  }
  Member& inner = taken.value.members.front();
  const std::string name = where + "." + inner.key;
  if (inner.key == "llama") {
    entry.put("training_config.llama", name, inner.mark, std::move(inner.value));
  } else if (inner.key == "folder") {
    entry.put("training_config.base_model", name, inner.mark, std::move(inner.value));
  } else if (inner.key == "config") {
    entry.put("training_config.model_config", name, inner.mark, std::move(inner.value));
  } else {
    entry.report(where, inner.mark,
                 "unknown key '" + inner.key + "'; known here: llama, folder, config");
  }
}

// The section that has such a setting, or such a map; empty: none.
std::string_view section_of(std::string_view key) {
  for (const settings::Setting& setting : settings::worker_settings) {
    const bool whole = setting.section.find('.') == std::string_view::npos;
    if (whole && setting.key == key) return setting.section;
  }
  for (const settings::Map& map : settings::maps) {
    const bool whole = map.parent().find('.') == std::string_view::npos;
    if (whole && map.key() == key) return map.parent();
  }
  return "";
}

}  // namespace

void translate(Node& program, const std::string& path, const Folders& folders,
               const orders::Tracking& usual, std::vector<yaml::Problem>& problems) {
  if (program.kind != Node::Kind::map) return;
  Entry entry(program, path, folders, problems);
  open_model(entry);
  entry.read("training_config", "");
  entry.read("device_config", "");
  entry.read("logging_config", "");
  entry.read("training_config.lora", "lora_config.");
  entry.read("training_config.samples", "eval_config.");
  entry.read("training_config.llama", "transformer_config.");
  entry.read("training_config.llama.rope_scaling", "rope_scaling.");
  entry.read("", "");
  settle(entry);
  settle_trackers(entry, usual);
}

void gather_flat(Node& program) {
  const auto has = [&](std::string_view key) { return program.find(key) != nullptr; };
  if (has("command") || std::any_of(settings::sections.begin(), settings::sections.end(), has)) {
    return;
  }
  std::vector<Member> left;
  std::vector<Member> sections;
  for (Member& member : program.members) {
    const std::string_view section = section_of(member.key);
    if (section.empty()) {
      left.push_back(std::move(member));
      continue;
    }
    auto at = std::find_if(sections.begin(), sections.end(),
                           [&](const Member& known) { return known.key == section; });
    if (at == sections.end()) {
      Node map;
      map.kind = Node::Kind::map;
      map.mark = member.mark;
      sections.push_back({std::string(section), member.mark, std::move(map)});
      at = std::prev(sections.end());
    }
    at->value.members.push_back(std::move(member));
  }
  program.members = std::move(left);
  for (Member& section : sections) program.members.push_back(std::move(section));
}

}  // namespace trainward::config::elsewhere
