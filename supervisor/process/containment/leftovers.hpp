// A clean slate before an attempt: what an earlier attempt of the same program left behind is
// ended.
//
// Normally a shim sees to that itself when its worker ends. It could not if it was killed: then the
// worker died with it, but helpers in sessions of their own may live, hold the device, and hold the
// leases they inherited. They are found by their cgroup, and by what the supervisor wrote into
// their environment. Nothing of an attempt whose shim lives is touched, nor anything else on the
// machine.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/process/containment/containment_host.hpp"
#include "supervisor/process/containment/proc.hpp"

namespace trainward::containment {

struct LeftoverQuery {
  std::string run;  // TRAINWARD_RUN
  std::filesystem::path
      checkpoint_dir;              // TRAINWARD_CHECKPOINT_DIR, which names the state folder too
  std::filesystem::path attempts;  // the folder with a folder for each attempt
  std::string cgroup_prefix;       // cgroup_prefix(state, run)
  // An attempt that is not to be touched whatever: what marks its processes, and the number in the
  // name of its group. May be empty.
  std::string except_nonce, except_attempt;
  CgroupHost host = this_host();
  int wait_ms = 2'000;
};

struct Cleared {
  int killed = 0;
  std::vector<Survivor> survivors;  // SIGKILL has not ended them within wait_ms
  bool searched = false;            // false: there was nothing to look for
};

// Cheap (well below a millisecond) when the last attempt's journal says that its shim left nothing.
Cleared clear_leftovers(const LeftoverQuery& query);

// "trainward.1a2b3c4d.name." of this state folder and program; a group's name is that and the
// attempt's number.
std::string cgroup_prefix(const std::filesystem::path& state, const std::string& run);
// Behind the number of an attempt that a standby may become: one that is ended while the attempt
// begins without it must not take the attempt's group along.
inline constexpr std::string_view standby_suffix = ".standby";

}  // namespace trainward::containment
