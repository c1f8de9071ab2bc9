// Many machines asked side by side for what their daemons say of their programs.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "common/base/json/json.hpp"
#include "supervisor/ctl/client/client.hpp"
#include "supervisor/ctl/fleet/hosts.hpp"

namespace trainward::ctl::fleet {

inline constexpr std::size_t most_at_once = 16;
inline constexpr std::chrono::milliseconds deadline{10'000};

struct HostAnswer {
  std::string host;                    // its name
  json::array programs;                // objects, of GET /v1/programs
  std::vector<std::string> troubles;   // of the daemon as a whole
  std::optional<ClientError> failure;  // why there is no answer
};

// In the order of `hosts`. Each has its own `deadline`, from its connection on; nobody is asked for
// a password.
std::vector<HostAnswer> ask_all(const std::vector<Host>& hosts,
                                std::chrono::milliseconds deadline = fleet::deadline);

}  // namespace trainward::ctl::fleet
