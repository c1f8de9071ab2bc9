#include "supervisor/daemon/attempt/standby.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <utility>

#include "common/base/json/json.hpp"
#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "common/os/folder.hpp"
#include "common/os/sockets/passed_descriptors.hpp"
#include "common/protocol/protocol.hpp"
#include "supervisor/daemon/attempt/crash_rules.hpp"
#include "supervisor/process/containment/containment_cgroup.hpp"
#include "supervisor/process/containment/containment_host.hpp"
#include "supervisor/process/containment/proc.hpp"

namespace trainward::daemon {
namespace {

constexpr int kill_wait_ms = 2'000;

// Device, inode, size and time of the last change.
std::string mark_of(const std::filesystem::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  return fmt::format("{} {}:{} {} {}.{:09}", file.native(), info.st_dev, info.st_ino, info.st_size,
                     info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

// Without how often is saved, which the attempt is told when it begins.
std::string lasting_plan(const std::string& plan) {
  auto parsed = parse_json(plan, env::plan);
  if (!parsed || !parsed->is_object()) return plan;
  parsed->get_object().erase("checkpoint_every");
  return json::serialize(*parsed);
}

std::string first_other(const std::map<std::string, std::string>& expected,
                        const std::map<std::string, std::string>& actual) {
  for (const auto& [name, value] : actual) {
    const auto found = expected.find(name);
    if (found == expected.end() || found->second != value) return name;
  }
  for (const auto& [name, value] : expected) {
    if (!actual.contains(name)) return name;
  }
  return {};
}

}  // namespace

LaunchIdentity identity_of(const LaunchSpec& spec, std::string config) {
  LaunchIdentity identity{spec, std::move(config), {}};
  for (const std::string& word : spec.argv) {
    if (auto mark = mark_of(spec.directory / word); !mark.empty()) {
      identity.files.push_back(std::move(mark));
    }
  }
  LaunchSpec& own = identity.spec;
  for (const char* name : {env::resume_from, "TMPDIR"}) own.environment.erase(name);
  if (const auto plan = own.environment.find(env::plan); plan != own.environment.end()) {
    plan->second = lasting_plan(plan->second);
  }
  own.memory = LaunchSpec::Memory::none;  // it comes with the word to begin
  own.cgroup.clear();                     // a standby has one of its own
  // Of our own worker the last word is a file in the folder.
  if (!identity.config.empty() && !own.argv.empty()) own.argv.pop_back();
  if (!identity.config.empty() && !identity.files.empty()) identity.files.resize(1);
  return identity;
}

std::string difference(const LaunchIdentity& expected, const LaunchIdentity& actual) {
  if (expected.spec.attempt != actual.spec.attempt) return "it is another attempt";
  if (expected.spec.nonce != actual.spec.nonce)
    return "the attempt was recorded under another name";
  if (expected.files != actual.files) return "a file of its command has changed";
  if (expected.config != actual.config) return "its configuration has changed";
  const std::string name = first_other(expected.spec.environment, actual.spec.environment);
  if (name == env::plan) return "the plan of the attempt is another";
  if (!name.empty()) return fmt::format("{} is another", name);
  return expected.spec == actual.spec ? "" : "its command or its limits are others";
}

void clear_standbys(const std::filesystem::path& all, const std::string& running) {
  const auto folder = Folder::open(all);
  if (!folder) return;
  const auto names = folder->names();
  if (!names) return;
  for (const std::string& name : *names) {
    if (name != running) (void)folder->remove_tree(name);
  }
}

Result<std::unique_ptr<Standby>> Standby::start(Loop& loop, std::vector<std::string> shim,
                                                const Environment& environment,
                                                LaunchIdentity identity,
                                                std::filesystem::path folder, std::string group,
                                                std::function<void()> changed) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail_errno(errno, "make a channel to the standby");
  }
  Fd own(ends[0]);
  const Fd its(ends[1]);
  auto made = Folder::open(folder);
  if (!made) return propagate(made);
  auto null = open_file("/dev/null", O_RDWR);
  auto log = made->open_file(attempt_files::shim_log, O_WRONLY | O_CREAT | O_APPEND, 0640);
  if (!null) return propagate(null);
  if (!log) return propagate(log);
  shim.insert(shim.end(), {"--standby", folder.string()});
  auto pid = spawn(shim, {null->get(), log->get(), log->get(), its.get()}, environment);
  if (!pid) return propagate(pid);
  auto pidfd = open_child(*pid);
  if (!pidfd) return propagate(pidfd);
  return std::unique_ptr<Standby>(new Standby(loop, *pid, Fd(*pidfd), std::move(own),
                                              std::move(identity), std::move(folder),
                                              std::move(group), std::move(changed)));
}

Standby::Standby(Loop& loop, pid_t pid, Fd pidfd, Fd channel, LaunchIdentity identity,
                 std::filesystem::path folder, std::string group, std::function<void()> changed)
    : pid_(pid),
      pidfd_(std::move(pidfd)),
      channel_(std::move(channel)),
      identity_(std::move(identity)),
      folder_(std::move(folder)),
      group_(std::move(group)),
      changed_(std::move(changed)),
      words_(std::make_unique<Watch>(loop, channel_.get(), [this] { heard(); })),
      end_(std::make_unique<Watch>(loop, pidfd_.get(), [this] { ended(); })) {}

std::function<void()> Standby::clearing() const {
  if (begun_) return [] {};
  return [pid = state_ == State::gone ? 0 : pid_, folder = folder_, group = group_] {
    if (pid > 0) ::waitpid(pid, nullptr, 0);
    // Of one whose shim was killed.
    const auto left = containment::Cgroup::existing(containment::this_host(), group);
    (void)containment::kill_and_wait(left.processes(), kill_wait_ms);
    left.remove();
    const auto all = Folder::open(folder.parent_path());
    if (all) (void)all->remove_tree(folder.filename().string());
  };
}

void Standby::heard() {
  std::array<char, 64> bytes{};
  const ssize_t got = ::recv(channel_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    words_.reset();  // its end follows
    return;
  }
  const std::string_view word(bytes.data(), static_cast<std::size_t>(got));
  if (word == "trains") trained_ = true;
  if (word != "ready" || state_ != State::starting) return;
  state_ = State::ready;
  changed_();
}

void Standby::ended() {
  end_.reset();
  words_.reset();
  ::waitpid(pid_, nullptr, WNOHANG);
  why_ = trim(read_tail(folder_ / attempt_files::shim_log, 2000));
  if (why_.empty()) why_ = "its shim was killed";
  state_ = State::gone;
  changed_();
}

Status Standby::begin(const std::filesystem::path& attempt, const std::vector<int>& leases) {
  if (state_ != State::ready) return fail(ErrorKind::transient, "the standby is gone");
  auto told =
      send_with_descriptors(channel_.get(), "begin " + attempt.native(), leases, MSG_DONTWAIT);
  if (!told) return told;
  begun_ = true;
  words_.reset();
  end_.reset();
  return {};
}

}  // namespace trainward::daemon
