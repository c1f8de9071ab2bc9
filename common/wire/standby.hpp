// The word by which a worker that was started before it is needed begins (docs/worker-protocol.md).
//
// TRAINWARD_STANDBY names a descriptor. The worker gets ready without touching a board or a
// checkpoint, says READY=1, and reads one line from the descriptor: a JSON object with the
// variables that are the attempt's own. At its end without a line nobody needs it, and it ends.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/base/error.hpp"
#include "common/wire/kept_state.hpp"
#include "common/wire/notifier.hpp"

namespace trainward {

namespace env {
inline constexpr const char* standby = "TRAINWARD_STANDBY";
}

enum class Begin { now, not_needed };

// The worker's end: waits, and sets the variables in this process's environment, TRAINWARD_MEMORY
// among them where memory came too. At once where this is no standby. Before any other thread reads
// the environment.
Begin wait_to_begin(const Notifier& notifier);

// The shim's end. A worker that has ended is no error: its end is seen.
void tell_to_begin(int fd, const std::map<std::string, std::string>& variables,
                   const std::optional<KeptState>& memory);

}  // namespace trainward
