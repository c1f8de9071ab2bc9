// What the records of an attempt's journal mean, as events of the core.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "common/journal.hpp"
#include "supervisor/core/event.hpp"

namespace trainward::daemon {

// A worker's datagram ("message"). Several keys of one may be several events. Foreign data: a
// number that is none, or a checkpoint path outside `checkpoints`, is left out.
std::vector<core::Event> message_events(const JournalRecord& message,
                                        const std::filesystem::path& checkpoints);

// How the attempt ended: a WorkerExited of "exited" or a LaunchFailed of "exec_failed"; nothing for
// other records.
std::optional<core::Event> exit_event(const JournalRecord& record);

// Of "unkillable": "process 41 (python, in tenstorrent_wait), …".
core::Unkillable unkillable_event(const JournalRecord& record);

}  // namespace trainward::daemon
