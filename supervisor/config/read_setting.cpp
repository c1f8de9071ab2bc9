#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "common/base/text.hpp"
#include "common/settings/worker_settings.hpp"
#include "common/yaml/scalar.hpp"
#include "supervisor/config/sections.hpp"

namespace trainward::config {
namespace {

using yaml::MapReader;
using yaml::Node;

bool empty_list(const Node& node) { return node.kind == Node::Kind::list && node.items.empty(); }

json::array read_paths(MapReader& reader, std::string_view key, const settings::Paths& of,
                       const Folders& folders) {
  json::array paths;
  if (of.needed) paths.emplace_back(json::string(of.fallback.data(), of.fallback.size()));
  const Node* list = reader.take(key);
  if (list == nullptr || (!of.needed && empty_list(*list))) return paths;
  const bool one = list->kind == Node::Kind::scalar;
  if (!one && (list->kind != Node::Kind::list || list->items.empty())) {
    reader.report(key, *list,
                  "expected a list of files or folders, found " +
                      (empty_list(*list) ? "an empty list" : describe(*list)));
    return paths;
  }
  paths.clear();
  // One may stand without its list.
  for (const Node& item : one ? std::span(list, 1) : std::span(list->items)) {
    if (item.kind == Node::Kind::refused) continue;
    if (item.kind != Node::Kind::scalar || item.text.empty()) {
      reader.report(key, item, "expected a file or folder, found " + describe(item));
      continue;
    }
    const auto path = folders.resolve(item);
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
      reader.report(key, item, "no such file or folder: " + path.string());
    }
    paths.emplace_back(path.string());
  }
  return paths;
}

std::string read_path(MapReader& reader, std::string_view key, const settings::Path& of,
                      const std::string& fallback, const Folders& folders) {
  const Node* node = reader.take(key);
  if (node == nullptr) return fallback;
  if (node->kind != Node::Kind::scalar || node->text.empty()) {
    reader.report(key, *node,
                  fmt::format("expected '{}' or {}, found {}", of.word, of.file, describe(*node)));
    return fallback;
  }
  if (node->text == of.word) return node->text;
  const auto path = folders.resolve(*node);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    reader.report(key, *node, fmt::format("neither '{}' nor a file: {}", of.word, path.string()));
  }
  return path.string();
}

// Empty: none is named, or not one that is there.
std::string read_place(MapReader& reader, std::string_view key, const settings::Place& of,
                       const Folders& folders) {
  const Node* node = reader.take(key);
  if (node == nullptr) return "";
  if (node->kind != Node::Kind::scalar || node->text.empty()) {
    reader.report(key, *node, fmt::format("expected {}, found {}", of.what, describe(*node)));
    return "";
  }
  auto path = folders.resolve(*node);
  if (!path.has_filename() && path.has_relative_path()) path = path.parent_path();
  std::error_code error;
  const bool there = of.folder ? std::filesystem::is_directory(path, error)
                               : std::filesystem::is_regular_file(path, error);
  if (!there) {
    reader.report(
        key, *node,
        fmt::format(
            "no such {}: {}; expected {} on this machine. Nothing is downloaded: hf download NAME "
            "--local-dir DIR",
            of.folder ? "folder" : "file", path.string(), of.what));
  }
  return path.string();
}

std::string expected_texts(const settings::Texts& of) {
  const std::string list = of.words.empty()
                               ? fmt::format("a list of 1 to {} texts", of.most)
                               : fmt::format("a list of some of {}", fmt::join(of.words, ", "));
  return of.alone.empty() ? list : fmt::format("{}, or {}", list, of.alone);
}

json::array read_texts(MapReader& reader, std::string_view key, const settings::Texts& of,
                       const std::vector<std::string>& fallback) {
  const Node* node = reader.take(key);
  if (node == nullptr) return json::value_from(fallback).as_array();
  const bool one = node->kind == Node::Kind::scalar;
  const std::span<const Node> items = one ? std::span(node, 1) : std::span(node->items);
  json::array texts;
  for (const Node& item : items) {
    const bool known = of.words.empty() ||
                       std::find(of.words.begin(), of.words.end(), item.text) != of.words.end();
    const bool alone = items.size() == 1 && !of.alone.empty() && item.text == of.alone;
    const bool text = item.kind == Node::Kind::scalar && !item.text.empty() &&
                      item.text.find('\0') == std::string::npos;
    if (item.kind == Node::Kind::refused) continue;
    if (!text || (!known && !alone)) {
      reader.report(key, item,
                    fmt::format("expected {}, found {}", expected_texts(of), describe(item)));
      return json::value_from(fallback).as_array();
    }
    texts.emplace_back(item.text);
  }
  const bool enough = !items.empty() || (empty_list(*node) && fallback.empty());
  if (enough && items.size() <= of.most) return texts;
  reader.report(key, *node,
                fmt::format("expected {}, found {}", expected_texts(of),
                            items.empty() ? describe(*node) : count(items.size(), "text")));
  return json::value_from(fallback).as_array();
}

json::object read_names(MapReader& reader, std::string_view key, const settings::Names& of) {
  json::object out;
  const Node* node = reader.take(key);
  if (node == nullptr) return out;
  MapReader map(*node, reader.path_of(key), reader.problems());
  for (const std::string_view name : of.names) {
    if (const std::string text = map.text(name, ""); !text.empty()) out[name] = text;
  }
  map.finish();
  return out;
}

json::array read_mesh(MapReader& reader, std::string_view key, const settings::Mesh& of) {
  json::array alone{1, 1};
  const Node* list = reader.take(key);
  if (list == nullptr) return alone;
  std::vector<std::int64_t> sides;
  for (const Node& item : list->items) {
    const auto side = yaml::parse_whole(item.text);
    sides.push_back(item.kind == Node::Kind::scalar && side ? *side : 0);
  }
  if (sides.size() == 2 && settings::mesh_fits(of, sides[0], sides[1])) {
    return {sides[0], sides[1]};
  }
  reader.report(key, *list,
                fmt::format("expected [rows, columns] of at most {} devices, such as [2, 4], which "
                            "share each batch; found {}",
                            of.most, describe(*list)));
  return alone;
}

// Text, number or boolean as YAML has it, or a list of whole numbers; null for anything else.
// Which of 5 and 5.0 it is matters to the plugin, so only the first is a whole number here.
json::value option_of(const Node& node) {
  if (node.kind == Node::Kind::list) {
    json::array list;
    for (const Node& item : node.items) {
      const auto whole = yaml::parse_integer(item.text);
      if (item.kind != Node::Kind::scalar || item.quoted || !whole) return nullptr;
      list.emplace_back(*whole);
    }
    return list;
  }
  if (node.kind != Node::Kind::scalar || node.text.find('\0') != std::string::npos) return nullptr;
  return to_json_value(node);
}

json::object read_options(MapReader& reader, std::string_view key, std::size_t most) {
  json::object options;
  const Node* map = reader.take(key);
  if (map == nullptr) return options;
  if (map->kind != Node::Kind::map) {
    reader.report(key, *map, "expected a map of options, found " + describe(*map));
    return options;
  }
  if (map->members.size() > most) {
    reader.report(
        key, *map,
        fmt::format("has {} options, at most {} can be given", map->members.size(), most));
    return options;
  }
  for (const yaml::Member& member : map->members) {
    if (member.value.kind == Node::Kind::refused) continue;
    json::value value = option_of(member.value);
    if (value.is_null()) {
      reader.report(fmt::format("{}.{}", key, member.key), member.value,
                    "expected text, a number, true or false, or a list of whole numbers, found " +
                        describe(member.value));
      continue;
    }
    options[member.key] = std::move(value);
  }
  return options;
}

json::object read_variables(MapReader& reader, std::string_view key, const settings::Variables& of,
                            std::map<std::string, json::value>& sorted) {
  const json::object given = read_options(reader, key, of.most);
  for (const auto& [name, value] : given) {
    const std::string problem = settings::variable_problem(view(name));
    if (problem.empty() && settings::is_variable(value)) {
      sorted[std::string(view(name))] = value;
      continue;
    }
    const Node& member = *reader.node().find(key)->find(view(name));
    reader.report(fmt::format("{}.{}", key, view(name)), member,
                  problem.empty()
                      ? "expected text, a number, true or false, found " + describe(member)
                      : problem);
  }
  return json::object(sorted.begin(), sorted.end());
}

// A type's own reading; all of them have the same arguments, so that std::visit finds it.
struct Reading {
  MapReader& reader;
  std::string_view key;
  const Folders& folders;
  settings::WorkerSettings& values;

  json::value operator()(const settings::Whole& of) {
    const std::int64_t value = reader.integer(key, get(values, of), of.range);
    set(values, of, value);
    return value;
  }
  json::value operator()(const settings::Real& of) {
    return of.at.of(values) = reader.number(key, of.at.of(values), of.range);
  }
  json::value operator()(const settings::Flag& of) {
    return of.at.of(values) = reader.boolean(key, of.at.of(values));
  }
  json::value operator()(const settings::Word& of) {
    of.at.of(values) = reader.one_of(key, of.words, of.at.of(values));
    return json::string(of.at.of(values));
  }
  json::value operator()(const settings::Choice& of) {
    const auto fallback = static_cast<std::size_t>(of.at.of(values));
    const std::string word = reader.one_of(key, of.words, of.words[fallback]);
    const auto place = std::find(of.words.begin(), of.words.end(), word) - of.words.begin();
    of.at.of(values) = static_cast<settings::RopeScaling>(place);
    return json::string(word);
  }
  json::value operator()(const settings::Size& of) {
    return reader.size_bytes(key, static_cast<std::int64_t>(of.at.of(values)),
                             {of.range.min, of.range.max});
  }
  json::value operator()(const settings::Text& of) {
    return json::string(reader.text(key, of.at.of(values)));
  }
  json::value operator()(const settings::Texts& of) {
    return read_texts(reader, key, of, of.at.of(values));
  }
  json::value operator()(const settings::Names& of) { return read_names(reader, key, of); }
  json::value operator()(const settings::Variables& of) {
    return read_variables(reader, key, of, of.at.of(values));
  }
  json::value operator()(const settings::Place& of) {
    return json::string(read_place(reader, key, of, folders));
  }
  json::value operator()(const settings::Path& of) {
    return json::string(read_path(reader, key, of, of.at.of(values), folders));
  }
  json::value operator()(const settings::Paths& of) {
    json::array paths = read_paths(reader, key, of, folders);
    of.at.of(values) = json::value_to<std::vector<std::string>>(json::value(paths));
    return paths;
  }
  json::value operator()(const settings::Mesh& of) {
    json::array mesh = read_mesh(reader, key, of);
    of.rows.of(values) = mesh.at(0).get_int64();
    of.columns.of(values) = mesh.at(1).get_int64();
    return mesh;
  }
  json::value operator()(const settings::Options& of) { return read_options(reader, key, of.most); }
};

}  // namespace

json::value read_setting(MapReader& reader, const settings::Setting& setting,
                         settings::WorkerSettings& values, const Folders& folders) {
  return std::visit(Reading{reader, setting.key, folders, values}, setting.type);
}

}  // namespace trainward::config
