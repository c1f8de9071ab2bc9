#include <algorithm>
#include <string>

#include "common/settings/worker_settings.hpp"
#include "supervisor/config/other_names.hpp"
#include "supervisor/config/sections.hpp"

namespace trainward::config {
namespace {

using yaml::MapReader;
using yaml::Node;

json::object read_settings(MapReader& reader, std::string_view section, const Folders& folders) {
  json::object out;
  for (const settings::Setting& setting : settings::worker_settings) {
    if (setting.section == section) out[setting.key] = read_setting(reader, setting, folders);
  }
  return out;
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

// What the device's settings say together.
void settle_device(MapReader& reader, json::object& device) {
  const Node& node = reader.node();
  const bool chosen = node.find("device") != nullptr;
  if (!chosen && node.find("plugin") != nullptr) device["device"] = "pjrt";
  const bool of_plugin = device["device"] == "pjrt";
  if (device["mesh_shape"].get_array()[1] != 1 && !device["enable_ddp"].get_bool()) {
    reader.report("enable_ddp", node,
                  of_plugin ? "needed by a mesh_shape of more than one device: true"
                            : "needed by a mesh_shape of more than one process: true");
  }
  if (of_plugin) reader.need("plugin", "'sim_n300' or the file of a plugin");
  if (!of_plugin && !chosen) refuse_without_plugin(reader);
}

// Told here, since the worker would find out an hour later.
void check_split(MapReader& program, const Node& device, const json::object& worker) {
  const json::object& training = worker.at("training_config").get_object();
  const std::int64_t ranks = worker.at("device_config").at("mesh_shape").get_array()[1].get_int64();
  const std::int64_t batch = training.at("batch_size").get_int64();
  if (batch % ranks == 0 || training.at("accumulation").get_int64() % ranks == 0) return;
  const bool of_plugin = worker.at("device_config").at("device").get_string() == "pjrt";
  program.report("device_config.mesh_shape", device,
                 fmt::format("{} {} cannot share batches of {} sequences; make batch_size a "
                             "multiple of {}",
                             ranks, of_plugin ? "devices" : "processes", batch, ranks));
}

// So is this.
void check_positions(MapReader& program, const Node& section, const json::object& worker) {
  const json::object& training = worker.at("training_config").get_object();
  const std::int64_t block = training.at("block_size").get_int64();
  const auto* const model =
      std::find_if(settings::model_presets.begin(), settings::model_presets.end(),
                   [&](const settings::ModelPreset& preset) {
                     return training.at("model").get_string() == json::string_view(preset.name);
                   });
  if (model == settings::model_presets.end() || model->positions == 0) return;
  if (block <= model->positions) return;
  const Node* given = section.find("block_size");
  program.report("training_config.block_size", given != nullptr ? *given : section,
                 fmt::format("{} has {} positions; a block of {} tokens is longer", model->name,
                             model->positions, block));
}

}  // namespace

WorkerSections read_worker_sections(MapReader& program, const Folders& folders) {
  Node nothing;
  nothing.kind = Node::Kind::map;
  const Node* device = &nothing;
  const Node* training = &nothing;
  WorkerSections out;
  for (const std::string_view section : settings::sections) {
    const Node* node = program.take(section);
    if (node == nullptr) node = &nothing;
    MapReader reader(*node, program.path_of(section), program.problems());
    json::object values = read_settings(reader, section, folders);
    if (section == settings::device) {
      device = node;
      settle_device(reader, values);
      out.host = read_described_host(reader, folders);
    }
    if (section == settings::training) training = node;
    reader.finish(other_name);
    out.worker[section] = std::move(values);
  }
  check_split(program, *device, out.worker);
  check_positions(program, *training, out.worker);
  return out;
}

void refuse_worker_sections(MapReader& program) {
  for (const std::string_view key : settings::sections) {
    const Node* node = program.node().find(key);
    program.take(key);
    if (node == nullptr) continue;
    program.report(key, *node,
                   "is for our own worker and cannot stand beside 'command'; remove one of them");
  }
}

}  // namespace trainward::config
