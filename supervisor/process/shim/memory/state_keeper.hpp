// What holds a dead worker's state in memory until the next attempt has taken it.
//
// A process of its own, so that the shim can end, and with it the attempt and its leases: it holds
// the memory and a socket, and nothing else. It ends when somebody has taken the memory
// (common/wire/kept_state.hpp), when its socket is removed, and after a bound of time: memory that
// nobody wants is not held for good. SIGTERM ends it at once. Killed, it takes the memory along,
// and the next attempt begins from the disk.
#pragma once

#include <cstdint>

#include "common/base/error.hpp"
#include "common/os/folder.hpp"
#include "common/wire/kept_state.hpp"

namespace trainward::shim {

inline constexpr const char* keep_option = "--keep-state";
inline constexpr std::int64_t keep_ms = 600'000;

// Starts the keeper, which listens when this returns. `folder`: the program's. By the last call of
// a process that has no other thread.
Status start_keeper(const Folder& folder, const KeptState& state);

// The keeper itself, with what start_keeper() has given it. Returns when it has nothing to do.
int keep_state(std::int64_t bound_ms);

}  // namespace trainward::shim
