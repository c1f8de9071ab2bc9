// That no two couriers work in a state folder: an exclusive flock on STATE_DIR/courier.lock, which
// the kernel takes back however the process ends.
#pragma once

#include <filesystem>
#include <optional>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward::courier {

inline constexpr const char* lease_name = "courier.lock";

// Nothing: another has it.
Result<std::optional<Fd>> try_lease(const std::filesystem::path& state_folder);

}  // namespace trainward::courier
