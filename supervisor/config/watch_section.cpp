#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/text.hpp"
#include "supervisor/config/sections.hpp"
#include "supervisor/evidence/foreign/checkpoints/checkpoint_pattern.hpp"
#include "supervisor/evidence/foreign/formats/formats.hpp"
#include "supervisor/evidence/foreign/log_watch.hpp"

namespace trainward::config {
namespace {

using yaml::MapReader;
using yaml::Node;

constexpr std::size_t most_entries = 32;
constexpr std::array<std::string_view, 6> phases{"load", "compile", "train",
                                                 "save", "upload",  "evaluate"};

// A relative path that does not climb: what the program writes lies in its own folder.
void read_status_file(MapReader& map, foreign::WatchSpec& spec) {
  const std::string text = map.text("status_file", "");
  if (text.empty()) return;
  const auto path = std::filesystem::path(text).lexically_normal();
  if (path.is_absolute() || *path.begin() == ".." || !path.has_filename()) {
    return map.report("status_file", *map.node().find("status_file"),
                      "expected a file inside the program's directory, found '" + text + "'");
  }
  spec.status_file = path;
}

void read_keys(MapReader& map, foreign::StatusKeys& keys) {
  keys.step = map.text("step", keys.step);
  keys.loss = map.text("loss", keys.loss);
  keys.tokens = map.text("tokens", keys.tokens);
  keys.phase = map.text("phase", keys.phase);
  keys.tokens_per_second = map.text("tokens_per_second", keys.tokens_per_second);
  keys.updated = map.text("updated", keys.updated);
}

// The list under `key` when it is one, is not empty and is not endless.
const Node* take_list(MapReader& map, std::string_view key, std::string_view example) {
  const Node* list = map.take(key);
  if (list == nullptr) return nullptr;
  if (list->kind == Node::Kind::list && !list->items.empty() &&
      list->items.size() <= most_entries) {
    return list;
  }
  map.report(
      key, *list,
      list->kind == Node::Kind::list
          ? fmt::format("expected 1 to {} entries, found {}", most_entries, list->items.size())
          : fmt::format("expected a list such as {}, found {}", example, describe(*list)));
  return nullptr;
}

void read_log(MapReader& map, foreign::WatchSpec& spec) {
  const Node* list = take_list(map, "log", "[{match: 'step (?P<step>\\d+)'}]");
  if (list == nullptr) return;
  for (const Node& item : list->items) {
    const std::size_t problems = map.problems().size();
    MapReader entry(item, map.path_of("log"), map.problems());
    entry.need("match", "an expression with named groups");
    foreign::LogRule rule{entry.text("match", ""), entry.one_of("phase", phases, "")};
    entry.finish();
    if (map.problems().size() > problems) continue;
    const Node* match = item.find("match");
    if (match == nullptr) continue;
    if (auto ok = foreign::check(rule); !ok) {
      entry.report("match", *match, ok.error().what);
    }
    spec.log.push_back(std::move(rule));
  }
}

void read_globs(MapReader& map, foreign::WatchSpec& spec) {
  const Node* list = take_list(map, "checkpoints", "['ckpts/step*.pt']");
  if (list == nullptr) return;
  for (const Node& item : list->items) {
    if (item.kind == Node::Kind::refused) continue;
    if (item.kind != Node::Kind::scalar) {
      map.report("checkpoints", item, "expected a file pattern, found " + describe(item));
    } else if (auto ok = foreign::check_glob(item.text); !ok) {
      map.report("checkpoints", item, ok.error().what);
    } else {
      spec.checkpoints.push_back(item.text);
    }
  }
}

std::vector<std::string_view> presets() {
  std::vector<std::string_view> names = foreign::preset_names();
  names.insert(names.begin(), {"auto", "off"});
  return names;
}

// `watch: auto`, `watch: off`, `watch: nanogpt`
void read_word(MapReader& program, const Node& node, foreign::WatchSpec& spec) {
  const auto words = presets();
  if (node.text == "false") {
    spec.preset = "off";
  } else if (std::find(words.begin(), words.end(), node.text) != words.end()) {
    spec.preset = node.text;
  } else {
    const std::string near = nearest(node.text, words);
    program.report("watch", node,
                   near.empty()
                       ? "expected a map of keys, 'auto', 'off' or the name of a format; "
                         "docs/config.md lists them"
                       : fmt::format("no such word '{}'; did you mean '{}'?", node.text, near));
  }
}

void read_preset(MapReader& map, foreign::WatchSpec& spec) {
  const bool by_itself = map.boolean("auto", foreign::usual_preset(spec) == "auto");
  spec.preset = map.one_of("preset", presets(), by_itself ? "auto" : "off");
  const Node* preset = map.node().find("preset");
  if (preset != nullptr && map.node().find("auto") != nullptr && !by_itself &&
      spec.preset != "off") {
    map.report("preset", *preset, "is said, and watch.auto is false");
  }
}

}  // namespace

foreign::WatchSpec read_watch(MapReader& program, bool has_command) {
  foreign::WatchSpec spec;
  if (!has_command) {
    if (const Node* node = program.take("watch"); node != nullptr) {
      program.report("watch", *node, "is for a 'command'; our own worker speaks for itself");
    }
    return spec;
  }
  spec.preset = "auto";
  const Node* word = program.node().find("watch");
  if (word != nullptr && word->kind == Node::Kind::scalar) {
    program.take("watch");
    read_word(program, *word, spec);
    return spec;
  }
  in_section(program, "watch", [&](MapReader& map) {
    read_status_file(map, spec);
    in_section(map, "keys", [&](MapReader& keys) { read_keys(keys, spec.keys); });
    if (const Node* keys = map.node().find("keys");
        keys != nullptr && map.node().find("status_file") == nullptr) {
      map.report("keys", *keys, "needs watch.status_file, in which to look");
    }
    read_log(map, spec);
    read_globs(map, spec);
    const bool told =
        std::any_of(spec.log.begin(), spec.log.end(), [](const foreign::LogRule& rule) {
          return rule.match.find("(?P<checkpoint>") != std::string::npos;
        });
    if (told && spec.checkpoints.empty()) {
      map.report("log", *map.node().find("log"),
                 "tells of checkpoints, but watch.checkpoints does not say where the next attempt "
                 "finds them");
    }
    spec.cpu_time = map.boolean("cpu_time", spec.cpu_time);
    spec.protocol = map.boolean("protocol", spec.protocol);
    read_preset(map, spec);
  });
  return spec;
}

}  // namespace trainward::config
