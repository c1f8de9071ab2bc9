// The memory controller of version 2, for groups below ours.
//
// Version 2 enables a controller for children only in a group that holds no processes itself. Where
// systemd has delegated the group to this supervisor, its own processes (trainwardd and the shims)
// move into a leaf, `trainward.supervisor`, and the controller is enabled; foreign processes are
// never moved, and a group that is not delegated is left as it is.
#pragma once

#include <filesystem>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::containment {

// Whether a group's list of controllers (cgroup.controllers, cgroup.subtree_control) has it.
bool lists_memory(const std::filesystem::path& file);

// `group`: the group this process is in. An error says why there will be no memory limit and no
// count of out-of-memory kills; containment works all the same.
Status enable_memory(const std::filesystem::path& group);

Status write_control(const std::filesystem::path& file, std::string_view text);

}  // namespace trainward::containment
