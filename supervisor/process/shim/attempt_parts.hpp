// What an attempt's shim has open before it can keep a worker.
#pragma once

#include <memory>
#include <optional>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"
#include "common/os/folder.hpp"
#include "common/wire/launch.hpp"
#include "supervisor/process/shim/disk/log_file.hpp"
#include "supervisor/process/shim/disk/log_ring.hpp"
#include "supervisor/process/shim/memory/state_memory.hpp"
#include "supervisor/process/shim/message_socket.hpp"

namespace trainward::shim {

// Of the signals that are told apart from then on; those that would end this process are ignored.
Result<Fd> take_signals();

struct Mouth {
  Fd signals;
  MessageSocket socket;
};
// The worker's messages come to a socket in `folder`.
Result<Mouth> open_mouth(const std::shared_ptr<const Folder>& folder, const LaunchSpec& spec);

struct AttemptParts {
  LaunchSpec spec;
  Mouth mouth;
  LogFile output;
  LogFile error;
  LogRing output_ring;
  LogRing error_ring;
  StateMemory memory;
};

// From launch.json in the attempt's folder. `mouth`: of a worker that has been started already.
Result<AttemptParts> open_parts(const std::shared_ptr<const Folder>& folder,
                                std::optional<Mouth> mouth = std::nullopt);

}  // namespace trainward::shim
