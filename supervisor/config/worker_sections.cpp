#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "common/settings/settle.hpp"
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

// ---- what the settings of a section say together ----

void report(MapReader& reader, const settings::Problem& problem) {
  const Node* node = reader.node().find(problem.key.substr(0, problem.key.find('.')));
  reader.report(problem.key, node != nullptr ? *node : reader.node(),
                problem.cure.empty() ? problem.what : problem.what + "; " + problem.cure);
}

void settle_training(MapReader& reader, json::object& training, WorkerSettings& values) {
  const auto given = [&](std::string_view key) { return reader.node().find(key) != nullptr; };
  // The worker is told of a model by name in any case: that it is beside another shows here alone.
  for (const std::string_view key : {"base_model", "model_config", "llama"}) {
    if (!given("model") || !given(key)) continue;
    report(reader,
           {std::string(key), "says what is trained, and so does 'model'", "keep one of them"});
  }
  // A model that was named and cannot be taken is one problem, not two.
  const bool told = std::ranges::any_of(reader.problems(), [](const yaml::Problem& problem) {
    return problem.message.find("base_model: FOLDER") != std::string::npos;
  });
  for (const settings::Problem& problem : settings::settle_training(values, given)) {
    if (problem.key != "lora" || !told) report(reader, problem);
  }
  training["steps"] = values.steps;
  training["head_learning_rate"] = values.head_learning_rate;
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

void settle_device(MapReader& reader, json::object& device, WorkerSettings& values) {
  const auto given = [&](std::string_view key) { return reader.node().find(key) != nullptr; };
  for (const settings::Problem& problem : settings::settle_device(values, given)) {
    report(reader, problem);
  }
  device["device"] = values.device;
  if (values.device != "pjrt" && !given("device")) refuse_without_plugin(reader);
}

// Told here, since the worker would find out an hour later.
void check_split(MapReader& program, const Node& device, const json::object& worker,
                 const WorkerSettings& values) {
  const json::object& training = worker.at("training_config").get_object();
  const std::int64_t sharers = values.sharers();
  const std::int64_t batch = training.at("batch_size").get_int64();
  if (settings::can_share(batch, training.at("accumulation").get_int64(), sharers)) return;
  const std::string_view sharing = values.enable_tp          ? "rows of devices"
                                   : values.device == "pjrt" ? "devices"
                                                             : "processes";
  program.report("device_config.mesh_shape", device,
                 fmt::format("{} {} cannot share batches of {} sequences; make batch_size a "
                             "multiple of {}",
                             sharers, sharing, batch, sharers));
}

// So is what a model with a name cannot do; others are known when their files are read.
void check_model(MapReader& program, const Node& section, const Node& device,
                 const json::object& worker, const WorkerSettings& values) {
  const json::object& training = worker.at("training_config").get_object();
  const std::int64_t block = training.at("block_size").get_int64();
  const bool own = !values.base_model.empty() || !values.model_config.empty() || values.own_llama;
  const auto* const model =
      std::find_if(settings::model_presets.begin(), settings::model_presets.end(),
                   [&](const settings::ModelPreset& preset) {
                     return training.at("model").get_string() == json::string_view(preset.name);
                   });
  if (model == settings::model_presets.end() || own) return;
  if (model->heads % values.columns_of_weights() != 0) {
    program.report("device_config.enable_tp", device,
                   fmt::format("the {} heads of {} do not divide evenly over {} columns",
                               model->heads, model->name, values.mesh_columns));
  }
  if (model->positions == 0) return;
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
  WorkerSettings read;
  for (const std::string_view section : settings::sections) {
    const Node* node = program.take(section);
    if (node == nullptr) node = &empty_map();
    MapReader reader(*node, program.path_of(section), program.problems());
    json::object values = read_settings(reader, section, read, folders);
    if (section == settings::device) {
      device = node;
      settle_device(reader, values, read);
      out.host = read_described_host(reader, folders);
    }
    if (section == settings::training) {
      training = node;
      settle_training(reader, values, read);
    }
    reader.finish(other_name);
    out.worker[section] = std::move(values);
  }
  check_split(program, *device, out.worker, read);
  check_model(program, *training, *device, out.worker, read);
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
