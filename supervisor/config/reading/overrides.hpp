// `--set programs.NAME.section.key=value`: one value of the tree replaced from the command line.
//
// The value is YAML ("5", "[a, b]", "{first: 1s}"). The new node carries the override's number as
// its source, so that problems with it are reported for --set and not for the file. Maps on the
// way that the file lacks are added, except a program: its name must exist.
#pragma once

#include <string_view>
#include <vector>

#include "common/yaml/document.hpp"

namespace trainward::config {

// `number` counts from 1. Problems are appended; the tree is then left as it was.
void apply_override(yaml::Node& root, std::string_view text, int number,
                    std::vector<yaml::Problem>& problems);

}  // namespace trainward::config
