// What the core decides by, from what the configuration says. Pure; cannot fail.
#pragma once

#include "supervisor/config/config.hpp"

namespace trainward::config {

core::Policy policy_of(const Program& program);

// Whether a worker learns from which checkpoint to resume: our own does, one that speaks the
// protocol does, another when its command or environment names {checkpoint} or {resume_step}. One
// that does not is not held to it.
bool is_told_to_resume(const Program& program);

}  // namespace trainward::config
