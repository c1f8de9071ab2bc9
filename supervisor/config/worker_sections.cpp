#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "common/settings/worker_settings.hpp"
#include "supervisor/config/elsewhere/other_names.hpp"
#include "supervisor/config/sections.hpp"

namespace trainward::config {
namespace {

using yaml::MapReader;
using yaml::Node;

using settings::WorkerSettings;

const Node& empty_map() {
  static const Node empty{
      .kind = Node::Kind::map, .mark = {}, .text = {}, .items = {}, .members = {}};
  return empty;
}

// The value, or nothing where a program without it is to read as it did before there was such a
// setting.
std::optional<json::value> value_of(MapReader& reader, const settings::Setting& setting,
                                    WorkerSettings& values, const Folders& folders) {
  json::value value = read_setting(reader, setting, values, folders);
  if (setting.written == settings::Written::always) return value;
  WorkerSettings defaults;
  MapReader nothing(empty_map(), "", reader.problems());
  if (value == read_setting(nothing, setting, defaults, folders)) return std::nullopt;
  return value;
}

// Those of a section or map, with the maps inside it.
json::object read_settings(MapReader& reader, std::string_view section, WorkerSettings& values,
                           const Folders& folders) {
  json::object out;
  for (const settings::Setting& setting : settings::worker_settings) {
    if (setting.section != section) continue;
    if (auto value = value_of(reader, setting, values, folders)) out[setting.key] = *value;
  }
  for (const settings::Map& map : settings::maps) {
    if (map.parent() != section) continue;
    const Node* node = reader.take(map.key());
    if (node == nullptr) continue;
    map.given(values);
    MapReader inner(*node, reader.path_of(map.key()), reader.problems());
    out[map.key()] = read_settings(inner, map.section, values, folders);
    inner.finish(other_name);
  }
  return out;
}

// ---- what the settings of the training say together ----

// A run is as long as its steps, its epochs, or what of the two is over first.
void settle_length(MapReader& reader, json::object& training) {
  const Node* steps = reader.node().find("steps");
  const bool epochs = training.contains("num_epochs");
  if (steps == nullptr && epochs) training["steps"] = 0;
  if (steps == nullptr || epochs || training["steps"] != 0) return;
  reader.report("steps", *steps, "is 0, and no num_epochs says how long the run is");
}

// The words that say what is trained, of which one is enough.
void settle_model(MapReader& reader, json::object& training) {
  constexpr std::array<std::string_view, 4> keys{"model", "base_model", "model_config", "llama"};
  std::vector<std::string_view> given;
  for (const std::string_view key : keys) {
    if (reader.node().find(key) != nullptr) given.push_back(key);
  }
  if (given.size() > 1) {
    reader.report(
        given[1], *reader.node().find(given[1]),
        fmt::format("says what is trained, and so does '{}'; keep one of them", given[0]));
  }
  // Somebody who tunes a model names one rate, and means all of it.
  const bool fine = given.size() == 1 && given[0] != "model";
  if (fine && reader.node().find("head_learning_rate") == nullptr) {
    training["head_learning_rate"] = training["learning_rate"];
  }
  // A model that was named and cannot be taken is one problem, not two.
  const bool told = std::ranges::any_of(reader.problems(), [](const yaml::Problem& problem) {
    return problem.message.find("base_model: FOLDER") != std::string::npos;
  });
  if (training.contains("lora") && !told && (given.empty() || given[0] != "base_model")) {
    reader.report("lora", *reader.node().find("lora"),
                  "adapts a model that is there already; name its folder: base_model");
  }
}

void settle_training(MapReader& reader, json::object& training, const WorkerSettings& values) {
  settle_length(reader, training);
  settle_model(reader, training);
  if (const auto problem =
          values.own_llama ? settings::llama_problem(values.llama) : std::nullopt) {
    reader.report(fmt::format("llama.{}", problem->key), *reader.node().find("llama"),
                  problem->what);
  }
  const auto& own = settings::words::own_formats;
  if (!values.template_variables.empty() &&
      std::find(own.begin(), own.end(), values.prompt_format) == own.end()) {
    reader.report(
        "template_variables", *reader.node().find("template_variables"),
        fmt::format("are for the model's own template, and prompt_format is {}; leave one "
                    "of them out",
                    values.prompt_format));
  }
  if (training.contains("validation_data") && training.contains("validation_share")) {
    reader.report("validation_share", *reader.node().find("validation_share"),
                  "is of data that is trained on, and validation_data names other; keep one");
  }
}

// ---- what those of the device do ----

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
  const Node* device = &empty_map();
  const Node* training = &empty_map();
  WorkerSections out;
  for (const std::string_view section : settings::sections) {
    const Node* node = program.take(section);
    if (node == nullptr) node = &empty_map();
    MapReader reader(*node, program.path_of(section), program.problems());
    WorkerSettings read;
    json::object values = read_settings(reader, section, read, folders);
    if (section == settings::device) {
      device = node;
      settle_device(reader, values);
      out.host = read_described_host(reader, folders);
    }
    if (section == settings::training) {
      training = node;
      settle_training(reader, values, read);
    }
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
