#include <span>

#include "common/settings/worker_settings.hpp"
#include "common/yaml/scalar.hpp"
#include "supervisor/config/sections.hpp"

namespace trainward::config {
namespace {

using yaml::MapReader;
using yaml::Node;

bool empty_list(const Node& node) { return node.kind == Node::Kind::list && node.items.empty(); }

json::array read_paths(MapReader& reader, std::string_view key, std::string_view fallback,
                       const Folders& folders) {
  json::array paths{json::string(fallback.data(), fallback.size())};
  const Node* list = reader.take(key);
  if (list == nullptr) return paths;
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

json::array read_mesh(MapReader& reader, std::string_view key, std::int64_t most) {
  json::array alone{1, 1};
  const Node* list = reader.take(key);
  if (list == nullptr) return alone;
  json::array mesh;
  for (const Node& item : list->items) {
    const auto size = yaml::parse_whole(item.text);
    if (item.kind == Node::Kind::scalar && size && *size >= 1 && *size <= most) {
      mesh.emplace_back(*size);
    }
  }
  if (mesh.size() == 2 && mesh.size() == list->items.size() && mesh[0] == 1) return mesh;
  reader.report(key, *list,
                fmt::format("expected [1, N]: N processes, or devices of a plugin, 1 to {}, share "
                            "each batch; found {}",
                            most, describe(*list)));
  return alone;
}

// Text, number or boolean as YAML has it, or a list of whole numbers; null: it is none of them.
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

// A type's own reading; all of them have the same arguments, so that std::visit finds it.
struct Reading {
  MapReader& reader;
  std::string_view key;
  const Folders& folders;
  const settings::WorkerSettings defaults{};

  json::value operator()(const settings::Whole& of) {
    return reader.integer(key, get(defaults, of), of.range);
  }
  json::value operator()(const settings::Real& of) {
    return reader.number(key, defaults.*of.at, of.range);
  }
  json::value operator()(const settings::Flag& of) { return reader.boolean(key, defaults.*of.at); }
  json::value operator()(const settings::Word& of) {
    return json::string(reader.one_of(key, of.words, defaults.*of.at));
  }
  json::value operator()(const settings::Size& of) {
    return reader.size_bytes(key, static_cast<std::int64_t>(defaults.*of.at),
                             {of.range.min, of.range.max});
  }
  json::value operator()(const settings::Text& of) {
    return json::string(reader.text(key, defaults.*of.at));
  }
  json::value operator()(const settings::Path& of) {
    return json::string(read_path(reader, key, of, defaults.*of.at, folders));
  }
  json::value operator()(const settings::Paths& of) {
    return read_paths(reader, key, of.fallback, folders);
  }
  json::value operator()(const settings::Mesh& of) { return read_mesh(reader, key, of.most); }
  json::value operator()(const settings::Options& of) { return read_options(reader, key, of.most); }
};

}  // namespace

json::value read_setting(MapReader& reader, const settings::Setting& setting,
                         const Folders& folders) {
  return std::visit(Reading{reader, setting.key, folders}, setting.type);
}

}  // namespace trainward::config
