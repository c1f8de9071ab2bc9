// A YAML tree as JSON, for parts of a file that are passed on unread.
#pragma once

#include "common/base/json.hpp"
#include "common/yaml/document.hpp"

namespace trainward::hwprobe {

// Plain numbers, true, false and empty values keep their type; everything else is text.
json::value to_json_value(const yaml::Node& node);

}  // namespace trainward::hwprobe
