// Compiling while a board is away: a helper fills the program cache beside the reset, or while
// there is no board that works, so that the next attempt finds there what it would have compiled.
// `trainward-worker compile` does it where the plugin can compile without a device, and ends at
// once where it cannot.
//
// Only for our own worker on a plugin. It is given the environment and the configuration of the
// attempt that has just ended, unless that was stopped long ago and its environment is gone; should
// the next one differ, it compiles what differs.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "supervisor/config/config.hpp"
#include "supervisor/daemon/base/paths.hpp"
#include "supervisor/daemon/loop/child_process.hpp"
#include "supervisor/daemon/loop/loop.hpp"

namespace trainward::daemon {

// Nothing when there is nothing that could be compiled so. `done` gets one line for people. To end
// it destroy it: it is killed at once, which the cache takes at any moment.
std::unique_ptr<ChildProcess> compile_ahead(Loop& loop, const Paths& paths,
                                            const config::Program& program, std::int64_t attempt,
                                            std::int64_t deadline_ms,
                                            std::function<void(std::string)> done);

}  // namespace trainward::daemon
