// The sections that say how a program is looked after: checkpoints, deadlines, budgets, backoff,
// plan, rollback, quarantine, logs, limits.
//
// In: the program's map, and a Program whose `command`, `worker` and `watch` are read. Out: the
// fields of Program they set. Failure: problems appended to the reader's list.
#pragma once

#include "common/yaml/map_reader.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/config/reading.hpp"

namespace trainward::config {

void read_policy_sections(yaml::MapReader& reader, const Folders& folders, Program& program);

}  // namespace trainward::config
