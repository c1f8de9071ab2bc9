#include "supervisor/process/shim/shim.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/text.hpp"
#include "common/os/clock.hpp"
#include "common/os/folder.hpp"
#include "common/os/processes/process_id.hpp"
#include "common/wire/journal.hpp"
#include "common/wire/launch.hpp"
#include "common/wire/standby.hpp"
#include "supervisor/process/containment/containment_cgroup.hpp"
#include "supervisor/process/shim/attempt_parts.hpp"
#include "supervisor/process/shim/attempt_place.hpp"
#include "supervisor/process/shim/disk/disk_writer.hpp"
#include "supervisor/process/shim/shim_attempt.hpp"
#include "supervisor/process/shim/standby_order.hpp"
#include "supervisor/process/shim/worker_process.hpp"

namespace trainward::shim {
namespace {

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

// A worker that runs.
struct Started {
  WorkerProcess worker;
  containment::Cgroup cgroup;
};

Result<Started> start(const LaunchSpec& spec, const std::vector<int>& inherited) {
  auto cgroup = containment::Cgroup::create(
      containment::restrict_to(containment::this_host(), spec.containment),
      spec.cgroup.empty() ? "trainward." + spec.nonce : spec.cgroup, spec.memory_limit_bytes);
  auto worker = start_worker(spec, cgroup, inherited);
  if (!worker) {
    cgroup.remove();
    return propagate(worker);
  }
  return Started{std::move(*worker), std::move(cgroup)};
}

// `signals`: on which the end of children is told.
void end(const Started& started, int signals, std::int64_t kill_wait_ms) {
  kill_tree(started.cgroup, started.worker.pid);
  ::waitpid(started.worker.pid, nullptr, 0);
  (void)sweep(started.cgroup, started.worker.pid, signals, kill_wait_ms);
  started.cgroup.remove();
}

// The end of what the worker of a standby has said, which nobody else will see.
std::string last_words(const WorkerProcess& worker) {
  constexpr std::size_t most = 600;
  std::string words;
  std::array<char, 4096> bytes{};
  for (ssize_t got = 0;
       (got = ::read(worker.standard_error.get(), bytes.data(), bytes.size())) > 0;) {
    words.append(bytes.data(), static_cast<std::size_t>(got));
    if (words.size() > most) words.erase(0, words.size() - most);
  }
  return std::string(trim(words));
}

// Keeps the attempt in the folder `path` to its end. What a standby has already is given.
struct FromStandby {
  Started started;
  Mouth mouth;
  int word = -1;  // the descriptor by which it is told to begin
};

Status keep(const std::filesystem::path& path, std::optional<FromStandby> standby) {
  const auto unused = [&standby](const Error& error) -> Status {
    if (standby) end(standby->started, -1, 0);
    return tl::unexpected<Error>(error);
  };
  auto place = AttemptPlace::open(path);
  if (!place) return unused(place.error());
  const std::shared_ptr<const Folder> folder = place->folder();
  auto journal = JournalWriter::open(folder, attempt_files::journal);
  if (!journal) return unused(journal.error());
  // Whatever goes wrong before the worker runs is told in the journal, where the daemon looks.
  const auto give_up = [&](const Error& error) -> Status {
    // What the user wrote is wrong for good; what the host refused may be given the next time.
    (void)journal->append(
        "exec_failed",
        JsonText().add("what", error.message()).add("transient", error.kind != ErrorKind::usage),
        now(), true);
    journal->close();
    return unused(error);
  };
  auto parts =
      open_parts(folder, standby ? std::optional(std::move(standby->mouth)) : std::nullopt);
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
  auto started =
      standby ? Result<Started>(std::move(standby->started)) : start(spec, memory.descriptors());
  if (!started) return give_up_later(started.error());
  auto identity = identify(started->worker.pid);
  if (!identity) identity = ProcessId{started->worker.pid, 0, self->boot};
  DiskWriter disk(AttemptJournal(std::move(*journal)), std::move(parts->output),
                  std::move(parts->error), std::move(parts->output_ring),
                  std::move(parts->error_ring));
  disk.record("started", shim::started(spec, *identity, *self, started->cgroup), now(), false);
  if (auto ok = disk.start(); !ok) {
    end(*started, parts->mouth.signals.get(), spec.kill_wait_ms);
    memory.keep();
    return ok;
  }
  if (standby) {
    std::map<std::string, std::string> variables;
    for (const char* name : {env::resume_from, env::plan}) {
      const auto found = spec.environment.find(name);
      if (found != spec.environment.end()) variables.insert(*found);
    }
    tell_to_begin(standby->word, variables, memory.state());
    ::close(standby->word);
  }
  Attempt attempt(spec, disk, *place, parts->mouth.socket, parts->mouth.signals.get(),
                  std::move(started->worker), started->cgroup);
  attempt.run();
  disk.stop();
  started->cgroup.remove();
  // What has ended in order has its state on the disk.
  if (!attempt.ended_in_order()) memory.keep();
  return {};
}

}  // namespace

Status run(const std::filesystem::path& folder) { return keep(folder, std::nullopt); }

Status run_standby(const std::filesystem::path& path) {
  auto opened = Folder::open(path);
  if (!opened) return propagate(opened);
  const auto folder = std::make_shared<const Folder>(std::move(*opened));
  auto spec = read_launch_spec(*folder, attempt_files::launch);
  if (!spec) return propagate(spec);
  // It may hold tokens, and nobody reads it again.
  (void)folder->remove_file(attempt_files::launch);
  auto mouth = open_mouth(folder, *spec);
  if (!mouth) return propagate(mouth);
  auto word = make_word();
  if (!word) return propagate(word);
  spec->environment[env::socket] = mouth->socket.path().string();
  spec->environment[env::notify_socket] = mouth->socket.path().string();
  spec->environment[env::standby] = std::to_string(word->worker.get());
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  auto started = start(*spec, {word->worker.get()});
  if (!started) return propagate(started);
  word->worker.reset();
  auto order = wait_for_order(*mouth, started->worker);
  if (!order) {
    const std::string words = last_words(started->worker);
    if (!words.empty()) order.error().what += "; its last words: " + words;
    end(*started, mouth->signals.get(), spec->kill_wait_ms);
    return propagate(order);
  }
  // The leases that came with it stay open.
  return keep(order->folder,
              FromStandby{std::move(*started), std::move(*mouth), word->shim.release()});
}

}  // namespace trainward::shim
