#include "supervisor/process/shim/shim.hpp"

#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>

#include "common/os/clock.hpp"
#include "common/os/folder.hpp"
#include "common/os/processes/process_id.hpp"
#include "common/wire/journal.hpp"
#include "common/wire/launch.hpp"
#include "supervisor/process/containment/containment_cgroup.hpp"
#include "supervisor/process/shim/attempt_place.hpp"
#include "supervisor/process/shim/disk_writer.hpp"
#include "supervisor/process/shim/memory/state_memory.hpp"
#include "supervisor/process/shim/message_socket.hpp"
#include "supervisor/process/shim/shim_attempt.hpp"
#include "supervisor/process/shim/worker_process.hpp"

namespace trainward::shim {
namespace {

Result<Fd> take_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGCHLD}) ::sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  // SIGXFSZ: a limit on file sizes is to look like any other full disk.
  for (const int number : {SIGHUP, SIGPIPE, SIGQUIT, SIGXFSZ}) ::signal(number, SIG_IGN);
  Fd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return fail_errno(errno, "make a signal descriptor");
  return fd;
}

// What must be open before the worker may start.
struct Parts {
  LaunchSpec spec;
  Fd signals;
  MessageSocket socket;
  LogFile output;
  LogFile error;
  LogRing output_ring;
  LogRing error_ring;
  StateMemory memory;
};

Result<Parts> prepare(const std::shared_ptr<const Folder>& folder) {
  auto spec = read_launch_spec(*folder, attempt_files::launch);
  if (!spec) return propagate(spec);
  auto signals = take_signals();
  if (!signals) return propagate(signals);
  auto socket = MessageSocket::open(folder, spec->user);
  if (!socket) return propagate(socket);
  const auto open = [&](const char* name) {
    return LogFile::open(folder, name, spec->log_max_bytes, spec->log_keep);
  };
  auto output = open(attempt_files::standard_output);
  if (!output) return propagate(output);
  auto error = open(attempt_files::standard_error);
  if (!error) return propagate(error);
  auto output_ring = LogRing::make();
  if (!output_ring) return propagate(output_ring);
  auto error_ring = LogRing::make();
  if (!error_ring) return propagate(error_ring);
  spec->environment[env::socket] = socket->path().string();
  spec->environment[env::notify_socket] = socket->path().string();
  StateMemory memory(*spec, folder->path());
  if (memory.state()) spec->environment[env::memory] = memory.numbers();
  return Parts{std::move(*spec),       std::move(*signals), std::move(*socket),
               std::move(*output),     std::move(*error),   std::move(*output_ring),
               std::move(*error_ring), std::move(memory)};
}

JsonText started(const LaunchSpec& spec, const ProcessId& worker, const ProcessId& self,
                 const containment::Cgroup& cgroup) {
  std::string notes;
  for (const std::string& note : cgroup.notes()) notes += (notes.empty() ? "" : "; ") + note;
  JsonText fields;
  fields.add("nonce", spec.nonce)
      .add("pid", std::int64_t{worker.pid})
      .add("start_ticks", static_cast<std::int64_t>(worker.start_ticks))
      .add("shim_pid", std::int64_t{self.pid})
      .add("shim_start_ticks", static_cast<std::int64_t>(self.start_ticks))
      .add("boot_id", self.boot)
      .add("cgroup", cgroup.tracker().native())
      .add("containment", cgroup.kind())
      .add("containment_notes", notes);
  return fields;
}

}  // namespace

Status run(const std::filesystem::path& path) {
  auto place = AttemptPlace::open(path);
  if (!place) return propagate(place);
  const std::shared_ptr<const Folder> folder = place->folder();
  auto journal = JournalWriter::open(folder, attempt_files::journal);
  if (!journal) return propagate(journal);
  // Whatever goes wrong before the worker runs is told in the journal, where the daemon looks.
  const auto give_up = [&](const Error& error) -> Status {
    // What the user wrote is wrong for good; what the host refused may be given the next time.
    (void)journal->append(
        "exec_failed",
        JsonText().add("what", error.message()).add("transient", error.kind != ErrorKind::usage),
        now(), true);
    journal->close();
    return tl::unexpected<Error>(error);
  };
  auto parts = prepare(folder);
  // Of a newer release, and no other try reads it. Else something is missing that may come back.
  if (!parts) return give_up(parts.error());
  const LaunchSpec& spec = parts->spec;
  const StateMemory& memory = parts->memory;
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  auto self = identify(::getpid());
  const auto give_up_later = [&](const Error& error) -> Status {
    Status given_up = give_up(error);
    memory.keep();
    return given_up;
  };
  if (!self) return give_up_later(self.error());

  const auto cgroup = containment::Cgroup::create(
      containment::restrict_to(containment::this_host(), spec.containment),
      spec.cgroup.empty() ? "trainward." + spec.nonce : spec.cgroup, spec.memory_limit_bytes);
  auto worker = start_worker(spec, cgroup, memory.state());
  if (!worker) {
    cgroup.remove();
    return give_up_later(worker.error());
  }
  auto identity = identify(worker->pid);
  if (!identity) identity = ProcessId{worker->pid, 0, self->boot};
  DiskWriter disk(AttemptJournal(std::move(*journal)), std::move(parts->output),
                  std::move(parts->error), std::move(parts->output_ring),
                  std::move(parts->error_ring));
  disk.record("started", started(spec, *identity, *self, cgroup), now(), false);
  if (auto ok = disk.start(); !ok) {
    kill_tree(cgroup, worker->pid);
    ::waitpid(worker->pid, nullptr, 0);
    cgroup.remove();
    memory.keep();
    return ok;
  }
  Attempt attempt(spec, disk, *place, parts->socket, parts->signals.get(), std::move(*worker),
                  cgroup);
  attempt.run();
  disk.stop();
  cgroup.remove();
  // What has ended in order has its state on the disk.
  if (!attempt.ended_in_order()) memory.keep();
  return {};
}

}  // namespace trainward::shim
