// device_config: what computes, and how many of it.
//
// In: the section, or an empty map. Out: the worker's JSON with every key present, and the
// described host. Failure: problems appended to the list, defaults in the JSON.
//
//   {"device": "cpu", "threads": 2, "mesh_shape": [1, 1], "enable_ddp": false,
//    "plugin": "", "options": {}, "placement": "host", "cache_limit": 8589934592}
//
// With a plugin: {"device": "pjrt", "plugin": "/abs/path" or "sim_n300", "options": {name: text,
// number, boolean or list of whole numbers}, …}.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "common/yaml/map_reader.hpp"
#include "supervisor/config/reading.hpp"

namespace trainward::config {

json::object read_device(const yaml::Node& node, const std::string& path,
                         std::vector<yaml::Problem>& problems, const Folders& folders,
                         std::optional<std::filesystem::path>& host);

}  // namespace trainward::config
