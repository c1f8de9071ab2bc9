// What the records of an attempt's journal mean, as events of the core.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/wire/journal.hpp"
#include "supervisor/decide/core/event.hpp"
#include "supervisor/decide/session/happening.hpp"

namespace trainward::daemon {

// A worker's datagram ("message"). Several keys of one may be several events. Foreign data: a
// number that is invalid or out of range (common/protocol/protocol.hpp), or a checkpoint path
// outside `checkpoints`, is left out. A loss beyond is infinite: it has diverged.
std::vector<core::Event> message_events(const JournalRecord& message,
                                        const std::filesystem::path& checkpoints);

// Of such a datagram, which became `events`: the first number beyond what can be,
// "STEP=4000000000000000000 is beyond 1000000000000"; nothing when all are in order.
std::optional<std::string> out_of_range(const JournalRecord& message,
                                        const std::vector<core::Event>& events);

// What a model said, of a worker's datagram that tells of it; likewise a sign of life.
std::optional<WorkerSample> sample(const JournalRecord& message);

using session::CompiledProgram;

// Of a worker's datagram that tells of one; it is then also a sign of life in message_events().
std::optional<CompiledProgram> compiled_program(const JournalRecord& message);

// How the attempt ended: a WorkerExited of "exited" or a LaunchFailed of "exec_failed"; nothing for
// other records.
std::optional<core::Event> exit_event(const JournalRecord& record);

// Of "unkillable": "process 41 (python, in tenstorrent_wait), …".
core::Unkillable unkillable_event(const JournalRecord& record);
// Of "outlived", likewise.
core::Outlived outlived_event(const JournalRecord& record);

}  // namespace trainward::daemon
