#include "trainer/cpu/runtime/wait_policy.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace trainward::cpu {

Status wait_passively(char* const* arguments) {
  constexpr const char* policy = "OMP_WAIT_POLICY";
  if (std::getenv(policy) != nullptr) return {};
  if (setenv(policy, "PASSIVE", 1) != 0) return fail_errno(errno, "set the OpenMP wait policy");
  execv("/proc/self/exe", arguments);
  return fail_errno(errno, "start again with the OpenMP wait policy", "/proc/self/exe");
}

}  // namespace trainward::cpu
