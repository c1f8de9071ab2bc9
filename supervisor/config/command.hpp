// What is executed, as the configuration writes it: `command`, `probe_command`, `reset_command` and
// `environment`.
//
// Texts are templates (supervisor/foreign/substitute.hpp); each is checked here, so that an attempt
// cannot fail on one. Failure: problems appended to the reader's list.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/yaml/map_reader.hpp"
#include "supervisor/foreign/substitute.hpp"

namespace trainward::config {

// Empty when the program has none.
foreign::Command read_command(yaml::MapReader& program);
std::vector<foreign::Template> read_probe_command(yaml::MapReader& program);
std::vector<foreign::Template> read_reset_command(yaml::MapReader& program);
std::map<std::string, foreign::Template> read_environment(yaml::MapReader& program);

}  // namespace trainward::config
