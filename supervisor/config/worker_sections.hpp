// training_config, device_config and logging_config: the settings of our own worker.
//
// In: a program's map. Out: the worker's JSON with every key present (the trainer's worker_config
// reads it by the same table). Failure: problems appended to the reader's list, defaults in the
// JSON.
#pragma once

#include <filesystem>
#include <optional>

#include "common/base/json.hpp"
#include "common/yaml/map_reader.hpp"
#include "supervisor/config/reading.hpp"

namespace trainward::config {

struct WorkerSections {
  json::object worker;
  std::optional<std::filesystem::path> host;
};

// Takes the three sections from `program`, whether they are there or not.
WorkerSections read_worker_sections(yaml::MapReader& program, const Folders& folders);

// The three sections beside a `command` contradict it: each one present is reported.
void refuse_worker_sections(yaml::MapReader& program);

}  // namespace trainward::config
