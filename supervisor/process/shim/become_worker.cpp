#include "supervisor/process/shim/become_worker.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "common/protocol/protocol.hpp"

namespace trainward::shim {
namespace {

constexpr const char* shell = "/bin/sh";

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  list.reserve(words.size() + 1);
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

// By the PATH that the worker itself will have, not by the shim's. (execvpe() takes the caller's.)
std::vector<std::string> places_of(const LaunchSpec& spec) {
  const std::string& name = spec.argv.front();
  if (name.find('/') != std::string::npos) return {name};
  const auto path = spec.environment.find("PATH");
  const std::string search = path == spec.environment.end() ? "/usr/bin:/bin" : path->second;
  std::vector<std::string> places;
  for (std::size_t at = 0; at <= search.size();) {
    const auto end = std::min(search.find(':', at), search.size());
    const std::string folder = search.substr(at, end - at);
    places.push_back((folder.empty() ? "." : folder) + "/" + name);
    at = end + 1;
  }
  return places;
}

void write_text(int fd, const char* text) { (void)!::write(fd, text, std::strlen(text)); }

// The next place may have it.
bool is_elsewhere(int reason) {
  return reason == ENOENT || reason == ENOTDIR || reason == EACCES || reason == ESTALE ||
         reason == ENODEV || reason == ETIMEDOUT;
}

// What the kernel says of the command itself will be said again until somebody corrects it.
bool is_about_the_command(int reason) {
  return reason == ENOENT || reason == ENOTDIR || reason == EACCES || reason == EPERM ||
         reason == ENOEXEC || reason == ELOOP || reason == ENAMETOOLONG || reason == E2BIG ||
         reason == EISDIR || reason == EINVAL;
}

}  // namespace

WorkerImage::WorkerImage(const LaunchSpec& spec)
    : spec_(spec),
      words_(spec.argv),
      places_(places_of(spec)),
      oom_score_adj_(spec.oom_score_adj ? std::to_string(*spec.oom_score_adj) : "") {
  for (const auto& [key, value] : spec.environment) {
    variables_.push_back(key);
    variables_.back().append("=").append(value);
  }
  for (const ResourceLimit& limit : spec.limits) {
    limits_.push_back({find_resource(limit.name)->resource, {limit.soft, limit.hard}});
  }
  for (const char* name : {env::checkpoint_dir, "TMPDIR"}) {
    const auto folder = spec.environment.find(name);
    if (spec.user && folder != spec.environment.end()) folders_.push_back(folder->second);
  }
  arguments_ = pointers(words_);
  environment_ = pointers(variables_);
  script_ = arguments_;
  script_.insert(script_.begin(), const_cast<char*>(shell));
}

// The order matters: the main user goes last, and with it the right to change the rest.
bool WorkerImage::change_user(const Streams& streams) const {
  const Credentials& user = *spec_.user;
  // A program may open its own output by name (/dev/stdout), as the owner of the pipe.
  for (const int fd : {streams.output, streams.error}) (void)!::fchown(fd, user.user, user.group);
  return ::syscall(SYS_setgroups, user.groups.size(), user.groups.data()) == 0 &&
         ::syscall(SYS_setresgid, user.group, user.group, user.group) == 0 &&
         ::syscall(SYS_setresuid, user.user, user.user, user.user) == 0;
}

void WorkerImage::execute() const {
  bool forbidden = false;
  for (const std::string& place : places_) {
    ::execve(place.c_str(), arguments_.data(), environment_.data());
    if (errno == ENOEXEC) {
      script_[1] = const_cast<char*>(place.c_str());
      ::execve(shell, script_.data(), environment_.data());
    }
    forbidden = forbidden || errno == EACCES;
    if (!is_elsewhere(errno)) return;
  }
  if (forbidden) errno = EACCES;
}

Refusal WorkerImage::become(pid_t parent, const Streams& streams,
                            const std::vector<Fd>& join) const {
  using Step = Refusal::Step;
  const auto refused = [](Step step, std::size_t which = 0) { return Refusal{step, errno, which}; };
  ::setpgid(0, 0);
  for (const Fd& file : join) write_text(file.get(), "0");
  if (!oom_score_adj_.empty()) {
    const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0) write_text(file, oom_score_adj_.c_str());
  }
  if (spec_.umask) ::umask(*spec_.umask);
  // A hard limit may be raised only before the user is changed.
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    if (::setrlimit(static_cast<__rlimit_resource_t>(limits_[i].resource), &limits_[i].values) != 0)
      return refused(Step::limit, i);
  }
  if (spec_.user && !change_user(streams)) return refused(Step::user);
  // The kernel ends the worker if the shim dies; the check closes the gap before prctl(). After the
  // change of user, which makes the kernel forget it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return refused(Step::begin);
  if (::getppid() != parent) return {Step::begin, ESRCH, 0};
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || ::dup2(null, STDIN_FILENO) < 0 || ::dup2(streams.output, STDOUT_FILENO) < 0 ||
      ::dup2(streams.error, STDERR_FILENO) < 0) {
    return refused(Step::begin);
  }
  for (std::size_t i = 0; i < folders_.size(); ++i) {
    if (::access(folders_[i].c_str(), W_OK | X_OK) != 0) return refused(Step::folder, i);
  }
  if (::chdir(spec_.directory.c_str()) != 0) return refused(Step::directory);
  execute();
  return refused(Step::command);
}

Error WorkerImage::error_of(const Refusal& refusal) const {
  using Step = Refusal::Step;
  const std::string as = spec_.user ? fmt::format(" as user {}", spec_.user->user) : "";
  const auto failure = [&](const std::string& what, const std::string& hint) {
    const bool full = refusal.reason == EMFILE;  // that has a hint of its own
    Error error = fail_errno(refusal.reason, what, "", full ? "" : hint).value();
    if (is_about_the_command(refusal.reason)) error.kind = ErrorKind::usage;
    return error;
  };
  switch (refusal.step) {
    case Step::limit:
      return failure(fmt::format("set limits.{}", spec_.limits.at(refusal.which).name),
                     "only root may raise a hard limit, and to what the kernel allows; "
                     "`ulimit -aH` shows those that trainwardd has where it is started");
    case Step::user:
      return failure(fmt::format("become user {}", spec_.user->user),
                     "trainwardd lacks CAP_SETUID or CAP_SETGID, or its container does not know "
                     "this user");
    case Step::directory:
      return failure(
          fmt::format("enter the program's directory {}{}", spec_.directory.string(), as),
          "it must be there, and that user must be able to enter it");
    case Step::folder:
      return failure(fmt::format("write in {}{}", folders_.at(refusal.which), as),
                     "that user must be able to enter every folder above it: move 'state_dir' to "
                     "where others may pass (`chmod o+x`)");
    case Step::begin:
    case Step::command:
      break;
  }
  return failure(fmt::format("start the command '{}' in {}{}", spec_.argv.front(),
                             spec_.directory.string(), as),
                 "check that the command exists and may be executed");
}

}  // namespace trainward::shim
