// The next attempt's worker, started before this one has ended (docs/worker-protocol.md).
//
// It has everything that the attempt will be launched with, but for the checkpoint and what lies in
// the attempt's folder, which is made when it begins; it holds no lease and no board. What it was
// started with is compared with what the attempt turns out to need, so it begins for exactly that
// or is ended. Not an attempt until then: nothing about it is in the run database. It ends with
// this object, and with the daemon.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"
#include "common/wire/launch.hpp"
#include "supervisor/daemon/loop/loop.hpp"
#include "supervisor/daemon/loop/spawn.hpp"

namespace trainward::daemon {

// What of a launch must be alike for a worker that was started earlier to do.
struct LaunchIdentity {
  LaunchSpec spec;                 // without what is only known when the attempt begins
  std::string config;              // of our own worker
  std::vector<std::string> files;  // those of the command, each with what tells it from another
};
LaunchIdentity identity_of(const LaunchSpec& spec, std::string config);
// What is another; empty: nothing.
std::string difference(const LaunchIdentity& expected, const LaunchIdentity& actual);

// Removes the folders of standbys in `all`, but for that of `running`. What cannot be removed stays
// for the next time.
void clear_standbys(const std::filesystem::path& all, const std::string& running = "");

class Standby {
 public:
  enum class State { starting, ready, gone };

  // `shim`: the command, with `environment`; `folder`: made for it, and removed at its end;
  // `group`: the cgroup that its worker gets. `changed`, on the loop: another state.
  static Result<std::unique_ptr<Standby>> start(Loop& loop, std::vector<std::string> shim,
                                                const Environment& environment,
                                                LaunchIdentity identity,
                                                std::filesystem::path folder, std::string group,
                                                std::function<void()> changed);
  ~Standby() = default;  // its shim ends by that, unless it has begun
  Standby(const Standby&) = delete;
  Standby& operator=(const Standby&) = delete;
  Standby(Standby&&) = delete;
  Standby& operator=(Standby&&) = delete;

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const std::string& why_gone() const { return why_; }
  [[nodiscard]] bool trained() const { return trained_; }  // before it was to begin
  [[nodiscard]] std::int64_t attempt() const { return identity_.spec.attempt; }
  [[nodiscard]] const std::string& nonce() const { return identity_.spec.nonce; }
  [[nodiscard]] const LaunchIdentity& identity() const { return identity_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

  // What is left to be done about one that is not needed, or that was ended, on a thread that may
  // wait for the kernel: reaps it and removes its folder. Nothing for one that has begun.
  [[nodiscard]] std::function<void()> clearing() const;

  // It is the attempt from here on, whose shim is pid(): a child of this process that somebody else
  // watches now. Its folder stays until the attempt has ended. Error: it is gone.
  Status begin(const std::filesystem::path& attempt, const std::vector<int>& leases);

 private:
  Standby(Loop& loop, pid_t pid, Fd pidfd, Fd channel, LaunchIdentity identity,
          std::filesystem::path folder, std::string group, std::function<void()> changed);
  void heard();
  void ended();

  pid_t pid_;
  Fd pidfd_, channel_;
  LaunchIdentity identity_;
  std::filesystem::path folder_;
  std::string group_;
  std::function<void()> changed_;
  State state_ = State::starting;
  std::string why_;
  bool trained_ = false;
  bool begun_ = false;
  std::unique_ptr<Watch> words_, end_;
};

}  // namespace trainward::daemon
