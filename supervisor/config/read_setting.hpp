// One setting of our own worker, from YAML to the JSON that the worker is given.
//
// In: a section's map and the setting's row of common/settings. Out: its value, or its default when
// the key is absent or wrong. Failure: problems appended to the reader's list. Paths are absolute
// in the JSON, and what they name exists now: the worker would find out an hour later.
#pragma once

#include "common/base/json.hpp"
#include "common/settings/setting.hpp"
#include "common/yaml/map_reader.hpp"
#include "supervisor/config/reading.hpp"

namespace trainward::config {

json::value read_setting(yaml::MapReader& reader, const settings::Setting& setting,
                         const Folders& folders);

}  // namespace trainward::config
