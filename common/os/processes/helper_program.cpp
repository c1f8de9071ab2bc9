#include "common/os/processes/helper_program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>

namespace trainward {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

class Actions {
 public:
  Actions() { ::posix_spawn_file_actions_init(&actions_); }
  ~Actions() { ::posix_spawn_file_actions_destroy(&actions_); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;

  void put(int fd, int as) {
    if (fd >= 0) {
      ::posix_spawn_file_actions_adddup2(&actions_, fd, as);
    } else {
      ::posix_spawn_file_actions_addopen(&actions_, as, "/dev/null", O_RDWR, 0);
    }
  }
  const posix_spawn_file_actions_t* finish() {
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    return &actions_;
  }

 private:
  posix_spawn_file_actions_t actions_{};
};

class Attributes {
 public:
  explicit Attributes(bool own_group) {
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    const int group = own_group ? POSIX_SPAWN_SETPGROUP : 0;
    ::posix_spawnattr_setflags(
        &attributes_, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group));
  }
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

}  // namespace

tl::expected<pid_t, int> start(HelperProgram program) {
  const auto arguments = pointers_to(program.arguments);
  std::vector<std::string> variables = program.environment.value_or(std::vector<std::string>());
  const auto variable_pointers = pointers_to(variables);
  Actions actions;
  actions.put(program.input, STDIN_FILENO);
  actions.put(program.output, STDOUT_FILENO);
  actions.put(program.errors, STDERR_FILENO);
  const Attributes attributes(program.own_group);
  pid_t pid = -1;
  const int error =
      ::posix_spawnp(&pid, arguments.front(), actions.finish(), attributes.get(), arguments.data(),
                     program.environment ? variable_pointers.data() : environ);
  if (error != 0) return tl::unexpected<int>(error);
  return pid;
}

}  // namespace trainward
