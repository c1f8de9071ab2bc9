// The places where an attempt of a foreign command differs from one of our own worker: what watches
// it, and what its checkpoints are.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/daemon/attempt/foreign_watch.hpp"
#include "supervisor/daemon/hands/services.hpp"
#include "supervisor/decide/core/action.hpp"
#include "supervisor/decide/core/state.hpp"
#include "supervisor/evidence/foreign/checkpoints/verify.hpp"

namespace trainward::daemon {

// Null when nothing of the program's files is watched. `state`: as it was committed last. Looks at
// folders run in `in_background`, one after the other.
std::unique_ptr<ForeignWatch> watch_foreign(Services& services, InBackground in_background,
                                            const config::Program& program,
                                            const std::filesystem::path& attempt_folder,
                                            const core::State& state,
                                            std::function<void(foreign::Events)> sink);

// Checkpoints are what is found by pattern, and not folders of ours.
bool has_foreign_checkpoints(const config::Program& program);

// The functions below read files: not on the loop. `root`: the program's checkpoint folder.

// What there is to resume from, newest step first; those of which neither name nor content says the
// step come last; none that was written before `since`. Empty for a program that is not told from
// where to resume.
std::vector<foreign::Candidate> foreign_candidates(const config::Program& program,
                                                   const std::filesystem::path& root,
                                                   WallTime since);

// The first of them that verifies, before `below_step` (0: any). Damaged ones stay where they are
// and are logged.
Result<checkpoint::Selection> select_foreign_checkpoint(const config::Program& program,
                                                        const std::filesystem::path& root,
                                                        std::vector<foreign::Candidate> candidates,
                                                        std::int64_t below_step);

// Of a folder of ours or, for a command, of what it calls a checkpoint, which is then of the step
// of the order.
Result<checkpoint::Summary> verify_checkpoint(const config::Program& program,
                                              const std::filesystem::path& root,
                                              const core::VerifyCheckpoint& order,
                                              foreign::Writer writer);

}  // namespace trainward::daemon
