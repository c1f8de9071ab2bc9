// deny-syscall NAME:ERRNO ... -- COMMAND [ARGUMENT ...]
//
// Runs COMMAND under a seccomp filter that answers the named system calls with ENOSYS, as an old
// kernel does, or EPERM, as old profiles of containers do. Everything it starts is under it as
// well.

#include <seccomp.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace {

constexpr int wrong_use = 125;  // as env(1) and its like: no exit code of a command under test

int number_of(std::string_view name) {
  if (name == "ENOSYS") return ENOSYS;
  if (name == "EPERM") return EPERM;
  return 0;
}

bool deny(scmp_filter_ctx filter, std::string_view rule) {
  const auto colon = rule.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string name(rule.substr(0, colon));
  const int answer = number_of(rule.substr(colon + 1));
  const int call = seccomp_syscall_resolve_name(name.c_str());
  return answer != 0 && call != __NR_SCMP_ERROR &&
         seccomp_rule_add(filter, SCMP_ACT_ERRNO(static_cast<std::uint16_t>(answer)), call, 0) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  int at = 1;
  for (; at < argc && std::string_view(argv[at]) != "--"; ++at) {
    if (filter != nullptr && deny(filter, argv[at])) continue;
    std::fprintf(stderr, "deny-syscall: not a rule: %s\n", argv[at]);
    return wrong_use;
  }
  if (at + 1 >= argc || seccomp_load(filter) != 0) {
    std::fputs("deny-syscall: no command, or no filter may be set here\n", stderr);
    return wrong_use;
  }
  ::execvp(argv[at + 1], argv + at + 1);
  std::perror(argv[at + 1]);
  return wrong_use;
}
