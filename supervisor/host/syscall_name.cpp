#include "supervisor/host/syscall_name.hpp"

#include <fmt/format.h>
#include <seccomp.h>

#include <cstdlib>
#include <memory>

namespace trainward::host {

std::string syscall_name(std::int64_t number) {
  const std::unique_ptr<char, void (*)(void*)> name(
      ::seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, static_cast<int>(number)), std::free);
  return name ? name.get() : fmt::format("system call {}", number);
}

}  // namespace trainward::host
