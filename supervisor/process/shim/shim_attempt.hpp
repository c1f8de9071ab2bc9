// The life of one attempt, from the worker's first instruction until nothing of it is left.
//
// One loop on the main thread: it only ever waits for events, and never for the disk (DiskWriter).
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/wire/launch.hpp"
#include "supervisor/process/containment/containment_cgroup.hpp"
#include "supervisor/process/shim/attempt_place.hpp"
#include "supervisor/process/shim/disk/disk_writer.hpp"
#include "supervisor/process/shim/disk/log_intake.hpp"
#include "supervisor/process/shim/message_pace.hpp"
#include "supervisor/process/shim/message_socket.hpp"
#include "supervisor/process/shim/stop_request.hpp"
#include "supervisor/process/shim/sweep.hpp"
#include "supervisor/process/shim/worker_process.hpp"

namespace trainward::shim {

class Attempt {
 public:
  // `signals`: a signalfd for SIGTERM, SIGINT, SIGUSR1, SIGUSR2 and SIGCHLD.
  Attempt(const LaunchSpec& spec, DiskWriter& disk, AttemptPlace& place,
          const MessageSocket& socket, int signals, WorkerProcess worker,
          const containment::Cgroup& cgroup);

  // Returns when the worker and all it left have ended, and the exit record is on the disk.
  void run();
  // After it: the worker said that it is done, or was stopped and has saved.
  [[nodiscard]] bool ended_in_order() const;

 private:
  struct Ended {
    int status = 0;
    rusage usage{};
    Time at;
  };

  void wait();
  int wait_ms() const;
  void take_signals();
  void reap();
  void take_messages(bool last);
  void take_messages(const MessageSocket& socket, bool last);
  void look_for_place();
  void tell_left_out(Time at, bool last);
  void look_for_unkillable();
  void drain(LogIntake& intake);
  void kill();
  void wait_for_the_others();
  void finish();
  void wait_for_unkillable();
  void record_exit(const Swept& swept);
  void record_unkillable(const std::vector<containment::Survivor>& survivors);

  DiskWriter& disk_;
  AttemptPlace& place_;
  std::optional<Credentials> user_;
  const MessageSocket& socket_;
  // One for each time that the folder was recreated: clients that connected before stay with the
  // socket they have.
  std::vector<std::unique_ptr<MessageSocket>> more_sockets_;
  int signals_;
  WorkerProcess worker_;
  const containment::Cgroup& cgroup_;
  MessagePace pace_;
  MessagePace::Keep keep_;
  std::int64_t told_left_out_ = 0;
  MonoTime tell_at_;
  LogIntake output_;
  LogIntake error_;
  std::int64_t kill_wait_ms_;
  std::int64_t oom_kills_before_;
  StopRequest stop_;
  std::string asked_by_;  // the first to ask, by the name of the process; empty: not known
  bool killed_ = false;   // somebody has sent SIGUSR2
  std::vector<containment::Survivor> cut_off_;  // who was still at the stop when that came
  std::optional<MonoTime> kill_deadline_;       // none: nobody needs to be looked for
  bool quiet_ = false;                          // nothing has happened for a while
  std::optional<Ended> ended_;                  // the first process has
  MonoTime look_at_;                            // when to look for the others again
};

}  // namespace trainward::shim
