// The daemon in one line, for the service manager (systemd's STATUS=).
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "supervisor/decide/core/cause.hpp"

namespace trainward::daemon {

struct GivenUp {
  std::string program;
  core::Cause cause = core::Cause::unknown;  // of its last end
};

// "Supervising 3 programs", and "Supervising 3 programs; FATAL: trainer (device_oom), somebody has
// to act: trainwardctl why trainer".
std::string status_words(std::size_t programs, std::span<const GivenUp> given_up);

}  // namespace trainward::daemon
