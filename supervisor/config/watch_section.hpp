// `watch`: by what a program is seen to live that is not our own worker.
//
// In: the program's map. Out: the spec, with patterns that compile and paths that stay inside the
// program's folders. Failure: problems appended to the reader's list.
#pragma once

#include "common/yaml/map_reader.hpp"
#include "supervisor/foreign/spec.hpp"

namespace trainward::config {

// `has_command`: without one there is nothing foreign, and the section is refused.
foreign::WatchSpec read_watch(yaml::MapReader& program, bool has_command);

}  // namespace trainward::config
