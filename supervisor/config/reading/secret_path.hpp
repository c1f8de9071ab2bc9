// A key of the configuration that names the file of a secret.
#pragma once

#include <filesystem>
#include <optional>

#include "common/yaml/map_reader.hpp"
#include "supervisor/config/reading/config_reading.hpp"

namespace trainward::config {

// A path, or the name of a credential that the service manager hands over
// ($CREDENTIALS_DIRECTORY). The file is looked at and not read. One that is not there yet is a
// note; one that is not a file or that others than its owner may read or write is reported, and so
// is a text that looks like the secret itself: nothing is returned then.
std::optional<std::filesystem::path> secret_path(yaml::MapReader& map, std::string_view key,
                                                 const yaml::Node& node, const Folders& folders);

}  // namespace trainward::config
