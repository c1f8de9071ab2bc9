// What a worker's datagram means: protocol messages as events of the core.
#pragma once

#include <filesystem>
#include <vector>

#include "common/journal.hpp"
#include "supervisor/core/event.hpp"

namespace trainward::daemon {

// Several keys of one message may be several events. Foreign data: a number that is none, or a
// checkpoint path outside `checkpoints`, is left out.
std::vector<core::Event> events_of(const JournalRecord& message,
                                   const std::filesystem::path& checkpoints);

}  // namespace trainward::daemon
