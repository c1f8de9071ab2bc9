// Checkpoints in a model repository of a Hugging Face Hub, each by one commit.
//
// Where things lie: layout.hpp. A commit is made only onto the state of the branch that was read
// before, and after a lost answer the branch is read first, so that a checkpoint is committed once.
// Transfers go the way of Git LFS, which every Hub takes.
#pragma once

#include <memory>

#include "supervisor/courier/upload/hub/hub_api.hpp"
#include "supervisor/courier/upload/target/target.hpp"
#include "supervisor/courier/upload/target/target_options.hpp"
#include "supervisor/orders/targets.hpp"

namespace trainward::upload {

// `memory` must outlive it. Nothing is asked of the place yet.
std::unique_ptr<Target> make_hub_target(const orders::HubPlace& place, Memory& memory,
                                        const TargetOptions& options, const hub::Times& times = {});

}  // namespace trainward::upload
