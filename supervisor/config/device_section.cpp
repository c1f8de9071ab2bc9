#include "supervisor/config/device_section.hpp"

#include <array>

#include "common/yaml/scalar.hpp"

namespace trainward::config {
namespace {

using yaml::MapReader;
using yaml::Node;

constexpr std::array<std::string_view, 2> devices{"cpu", "pjrt"};
constexpr std::array<std::string_view, 2> placements{"host", "device"};
constexpr std::array<std::string_view, 3> attentions{"auto", "plain", "fused"};
constexpr std::string_view simulated = "sim_n300";
constexpr std::int64_t default_cache_limit = std::int64_t{8} << 30;
constexpr yaml::SizeRange cache_limits{std::int64_t{1} << 20, std::int64_t{1} << 50};
constexpr std::size_t max_options = 256;

// [model parts, data parts], as meshes of devices are given elsewhere.
json::array read_mesh(MapReader& reader) {
  json::array alone{1, 1};
  const Node* list = reader.take("mesh_shape");
  if (list == nullptr) return alone;
  json::array mesh;
  if (list->kind == Node::Kind::list) {
    for (const Node& item : list->items) {
      const auto size = yaml::parse_integer(item.text);
      if (item.kind == Node::Kind::scalar && size && *size >= 1 && *size <= 1024) {
        mesh.emplace_back(*size);
      }
    }
  }
  if (mesh.size() == 2 && mesh.size() == list->items.size() && mesh[0] == 1) return mesh;
  reader.report("mesh_shape", *list,
                "expected [1, N]: N processes, or devices of a plugin, 1 to 1024, share each "
                "batch; found " +
                    describe(*list));
  return alone;
}

// "sim_n300", or a file that must exist now; empty: none was given.
std::string read_plugin(MapReader& reader, const Folders& folders) {
  const Node* node = reader.take("plugin");
  if (node == nullptr) return {};
  if (node->kind != Node::Kind::scalar || node->text.empty()) {
    reader.report("plugin", *node,
                  "expected 'sim_n300' or the file of a plugin, found " + describe(*node));
    return {};
  }
  if (node->text == simulated) return node->text;
  const auto path = folders.resolve(*node);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    reader.report("plugin", *node, "neither 'sim_n300' nor a file: " + path.string());
  }
  return path.string();
}

// Text, number or boolean as YAML has it, or a list of whole numbers; null: it is none of them.
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
  if (!node.quoted) {
    if (node.text == "true" || node.text == "false") return node.text == "true";
    if (const auto whole = yaml::parse_integer(node.text)) return *whole;
    if (const auto number = yaml::parse_number(node.text)) return *number;
  }
  return json::value(node.text);
}

// What the plugin is given when its client is made. Which names there are only the plugin knows.
json::object read_options(MapReader& reader) {
  json::object options;
  const Node* map = reader.take("options");
  if (map == nullptr) return options;
  if (map->kind != Node::Kind::map) {
    reader.report("options", *map, "expected a map of options, found " + describe(*map));
    return options;
  }
  if (map->members.size() > max_options) {
    reader.report(
        "options", *map,
        fmt::format("has {} options, at most {} can be given", map->members.size(), max_options));
    return options;
  }
  for (const yaml::Member& member : map->members) {
    if (member.value.kind == Node::Kind::refused) continue;
    json::value value = option_of(member.value);
    if (value.is_null()) {
      reader.report("options." + member.key, member.value,
                    "expected text, a number, true or false, or a list of whole numbers, found " +
                        describe(member.value));
      continue;
    }
    options[member.key] = std::move(value);
  }
  return options;
}

// Settings of a plugin without one are a misunderstanding. Beside `device: cpu` they are not: the
// same file is tried on the CPU.
void refuse_without_plugin(MapReader& reader) {
  for (const std::string_view key : {"options", "placement", "attention", "cache_limit"}) {
    if (const Node* node = reader.node().find(key); node != nullptr) {
      reader.report(key, *node, "goes with a plugin, and none is named");
    }
  }
}

}  // namespace

json::object read_device(const Node& node, const std::string& path,
                         std::vector<yaml::Problem>& problems, const Folders& folders,
                         std::optional<std::filesystem::path>& host) {
  MapReader reader(node, path, problems);
  const auto names = [&](std::string_view key) {
    return node.kind == Node::Kind::map && node.find(key) != nullptr;
  };
  json::object out;
  const std::string device = reader.one_of("device", devices, names("plugin") ? "pjrt" : "cpu");
  out["device"] = device;
  out["threads"] = reader.integer("threads", 2, {1, 1024});
  out["mesh_shape"] = read_mesh(reader);
  out["enable_ddp"] = reader.boolean("enable_ddp", false);
  if (out["mesh_shape"].get_array()[1] != 1 && !out["enable_ddp"].get_bool()) {
    reader.report("enable_ddp", node,
                  device == "pjrt" ? "needed by a mesh_shape of more than one device: true"
                                   : "needed by a mesh_shape of more than one process: true");
  }
  out["plugin"] = read_plugin(reader, folders);
  out["options"] = read_options(reader);
  out["placement"] = reader.one_of("placement", placements, "host");
  out["attention"] = reader.one_of("attention", attentions, "auto");
  out["cache_limit"] = reader.size_bytes("cache_limit", default_cache_limit, cache_limits);
  if (device == "pjrt") reader.need("plugin", "'sim_n300' or the file of a plugin");
  if (device == "cpu" && !names("device")) refuse_without_plugin(reader);
  host = read_described_host(reader, folders);
  reader.finish();
  return out;
}

}  // namespace trainward::config
