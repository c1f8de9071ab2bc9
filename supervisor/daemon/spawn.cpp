#include "supervisor/daemon/spawn.hpp"

#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace trainward::daemon {
namespace {

struct Actions {
  Actions() { ::posix_spawn_file_actions_init(&value); }
  ~Actions() { ::posix_spawn_file_actions_destroy(&value); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  posix_spawn_file_actions_t value{};
};

struct Attributes {
  explicit Attributes(bool own_group) {
    ::posix_spawnattr_init(&value);
    sigset_t all;
    sigset_t none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigdefault(&value, &all);
    ::posix_spawnattr_setsigmask(&value, &none);
    const int group = own_group ? POSIX_SPAWN_SETPGROUP : 0;
    ::posix_spawnattr_setflags(
        &value, static_cast<short>(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | group));
  }
  ~Attributes() { ::posix_spawnattr_destroy(&value); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  posix_spawnattr_t value{};
};

// As exec wants them: with a null behind the last.
std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<pid_t> spawn(const std::vector<std::string>& argv, const std::vector<int>& fds,
                    const std::optional<Environment>& environment, bool own_group) {
  Actions actions;
  const Attributes attributes(own_group);
  // By way of numbers above all of them, so that none is overwritten before it was copied.
  const int count = static_cast<int>(fds.size());
  int above = count;
  for (const int fd : fds) above = std::max(above, fd + 1);
  for (int i = 0; i < count; ++i) {
    ::posix_spawn_file_actions_adddup2(&actions.value, fds[static_cast<std::size_t>(i)], above + i);
  }
  for (int i = 0; i < count; ++i) {
    ::posix_spawn_file_actions_adddup2(&actions.value, above + i, i);
  }
  ::posix_spawn_file_actions_addclosefrom_np(&actions.value, count);
  std::vector<std::string> words = argv;
  std::vector<char*> pointers = pointers_to(words);
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment.value_or(Environment{})) {
    variables.push_back(fmt::format("{}={}", name, value));
  }
  std::vector<char*> variable_pointers = pointers_to(variables);
  pid_t pid = 0;
  const int error =
      ::posix_spawnp(&pid, pointers[0], &actions.value, &attributes.value, pointers.data(),
                     environment ? variable_pointers.data() : environ);
  if (error != 0) return fail_errno(error, "start the program", argv.front());
  return pid;
}

Result<int> open_child(pid_t pid) {
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return fail_errno(errno, "watch the process", std::to_string(pid));
  return fd;
}

}  // namespace trainward::daemon
