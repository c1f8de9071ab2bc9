#include "inflict.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <memory>

#include "checkpoint/checkpoint.hpp"
#include "common/os/file.hpp"
#include "common/wire/launch.hpp"
#include "damage.hpp"

namespace trainward::chaos {
namespace {

constexpr std::int64_t minute_ms = 60'000;
constexpr std::string_view stop_request =
    "POST /v1/programs/mortal/stop HTTP/1.1\r\nHost: localhost\r\nX-Trainward: 1\r\n"
    "Content-Length: 0\r\n\r\n";
constexpr std::string_view half_request = "POST /v1/programs/alpha/rest";

std::string program_at(std::uint64_t target) {
  return programs::all[target % std::size(programs::all)];
}

}  // namespace

void Inflictor::later(const Fault& fault, std::int64_t now_ms, std::function<void()> undo) {
  cures_.push_back({now_ms + fault.for_ms, fault.kind, std::move(undo)});
}

void Inflictor::heal(std::int64_t now_ms) {
  // In the order in which they came: two that overlap end as they would have one after the other.
  for (std::size_t i = 0; i < cures_.size();) {
    if (cures_[i].at_ms > now_ms) {
      ++i;
      continue;
    }
    const auto undo = std::move(cures_[i].undo);
    cures_.erase(cures_.begin() + static_cast<std::ptrdiff_t>(i));
    undo();
  }
}

void Inflictor::heal_all() { heal(INT64_MAX); }

bool Inflictor::at_work(bool (*kind)(Kind)) const {
  return std::any_of(cures_.begin(), cures_.end(),
                     [kind](const Cure& cure) { return kind(cure.kind); });
}

std::int64_t Inflictor::slept_ms() const {
  return arena_.control() == nullptr ? 0 : arena_.control()->boot_shift_ns / 1'000'000;
}

void Inflictor::signal_one(const Fault& fault, std::string_view name, int signal,
                           std::int64_t now_ms) {
  const auto found = named(descendants(), name);
  if (found.empty()) return;
  const pid_t pid = found[fault.target % found.size()].pid;
  ::kill(pid, signal);
  // A number may pass to another process meanwhile; to go on hurts nobody.
  if (signal == SIGSTOP) later(fault, now_ms, [pid] { ::kill(pid, SIGCONT); });
}

void Inflictor::stop_all(const Fault& fault, std::int64_t now_ms) {
  for (const Process& process : descendants()) ::kill(process.pid, SIGSTOP);
  later(fault, now_ms, [] {
    for (const Process& process : descendants()) ::kill(process.pid, SIGCONT);
  });
}

// A pipe takes a file's place; the file itself is kept by another name, and comes back.
void Inflictor::put_pipe(const Fault& fault, std::int64_t now_ms) {
  const std::string program = program_at(fault.target);
  const std::int64_t number = arena_.newest_attempt(program);
  const auto attempt = arena_.attempt(program, number);
  const auto checkpoints = arena_.run(program) / "checkpoints";
  std::vector<std::filesystem::path> files{
      attempt / attempt_files::journal, attempt / attempt_files::standard_output,
      attempt / (std::string(attempt_files::standard_output) + ".index"), checkpoints / "latest"};
  const auto known = checkpoint::list(checkpoints);
  if (known && !known->empty()) files.push_back(known->front().path / "MANIFEST.json");
  const std::filesystem::path file = files[fault.amount % files.size()];
  const std::string aside = file.string() + ".aside";
  const std::string pipe = file.string() + ".pipe";
  if (::link(file.c_str(), aside.c_str()) != 0) return;
  if (::mkfifo(pipe.c_str(), 0600) != 0 || ::rename(pipe.c_str(), file.c_str()) != 0) {
    ::unlink(pipe.c_str());
    ::unlink(aside.c_str());
    return;
  }
  if (file.filename() == attempt_files::standard_output) {
    spoiled_.logs.insert(program + "/" + std::to_string(number));
  } else if (file.filename() == attempt_files::journal) {
    spoiled_.journals.insert(program + "/" + std::to_string(number));
  }
  later(fault, now_ms, [file, aside] {
    struct stat info {};
    const bool still = ::lstat(file.c_str(), &info) == 0 && S_ISFIFO(info.st_mode);
    if (!still || ::rename(aside.c_str(), file.c_str()) != 0) ::unlink(aside.c_str());
  });
}

void Inflictor::burst_of_checkpoints(const Fault& fault) {
  const auto files = arena_.folder() / "files";
  std::error_code error;
  std::filesystem::remove_all(files, error);
  std::filesystem::create_directory(files, error);
  for (std::uint64_t i = 0; i < 100 + fault.amount; ++i) {
    const auto name = files / fmt::format("step{}.pt", ++checkpoint_);
    if (auto fd = open_file(name, O_WRONLY | O_CREAT, 0600)) {
      (void)write_all(fd->get(), std::string_view("\x80\x02x", 3), name);
    }
  }
}

void Inflictor::command(const std::vector<std::string>& words, std::int64_t now_ms) {
  commands_[arena_.start_command(words)] = {words, now_ms};
}

void Inflictor::run_commands(const Fault& fault, std::int64_t now_ms) {
  const std::string any = program_at(fault.target);
  const std::string always = programs::always[fault.target % std::size(programs::always)];
  const std::string at_times = programs::at_times[fault.target % std::size(programs::at_times)];
  const std::array<std::vector<std::string>, 10> choices{{{"status"},
                                                          {"restart", always},
                                                          {"stop", at_times},
                                                          {"history"},
                                                          {"start", at_times},
                                                          {"why", any},
                                                          {"tail", any},
                                                          {"restart", at_times},
                                                          {"status", "--json"},
                                                          {"report", any}}};
  for (std::uint64_t i = 0; i <= fault.amount % 6; ++i) {
    command(choices.at((fault.amount + i * 3) % choices.size()), now_ms);
  }
}

void Inflictor::hold(const Fault& fault, std::int64_t now_ms, std::vector<Fd> clients) {
  auto held = std::make_shared<std::vector<Fd>>(std::move(clients));
  later(fault, now_ms, [held] { held->clear(); });
}

// The soft limit of the daemon, and of no successor of it.
void Inflictor::limit(const Fault& fault, std::int64_t now_ms, int resource, std::uint64_t most) {
  const auto found = named(descendants(), names::daemon);
  if (found.empty()) return;
  const pid_t pid = found.front().pid;
  const auto which = static_cast<__rlimit_resource>(resource);
  rlimit before{};
  if (::prlimit(pid, which, nullptr, &before) != 0) return;
  const rlimit tight{std::min<rlim_t>(most, before.rlim_max), before.rlim_max};
  ::prlimit(pid, which, &tight, nullptr);
  const rlimit wide{before.rlim_max, before.rlim_max};
  later(fault, now_ms, [pid, which, wide] { ::prlimit(pid, which, &wide, nullptr); });
}

// Back and forth by up to twelve hours, now and then to where it belongs.
void Inflictor::move_clock(const Fault& fault) {
  const auto minutes = static_cast<std::int64_t>(fault.amount * 1'440 / 1'000) - 720;
  arena_.control()->wall_shift_ns = fault.target % 4 == 0 ? 0 : minutes * minute_ms * 1'000'000;
}

void Inflictor::damage_newest_journal(const Fault& fault) {
  const std::string program = program_at(fault.target);
  const std::int64_t number = arena_.newest_attempt(program);
  damage_journal(arena_.attempt(program, number) / attempt_files::journal, fault.amount);
  spoiled_.damaged.insert(program + "/" + std::to_string(number));
}

// While no daemon has it open.
void Inflictor::damage_state(const Fault& fault) {
  const auto found = named(descendants(), names::daemon);
  if (found.empty() || !kill_and_wait(found.front().pid)) return;
  spoiled_.database = true;
  if (fault.kind == Kind::database_back) {
    take_back(arena_.state(), arena_.folder() / "database-of-before");
  } else {
    damage_database(arena_.state(), fault.amount, fault.target);
  }
}

void Inflictor::swap_folders(const Fault& fault, std::int64_t now_ms) {
  const auto folder =
      arena_.backup() / programs::always[fault.target % std::size(programs::always)];
  std::vector<std::filesystem::path> choices{folder, folder / "published"};
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with("step-")) choices.push_back(entry.path());
  }
  const auto chosen = choices[fault.amount % choices.size()];
  if (!std::filesystem::is_directory(std::filesystem::symlink_status(chosen, error))) return;
  auto exchange = exchange_for_link(chosen, arena_.victim());
  later(fault, now_ms, [exchange]() mutable { exchange.reset(); });
}

void Inflictor::inflict(const Fault& fault, std::int64_t now_ms) {
  const auto socket = arena_.state() / "trainward.sock";
  Control* control = arena_.control();
  const auto daemon_has = [](auto what) {
    const auto found = named(descendants(), names::daemon);
    return found.empty() ? 0 : what(found.front().pid);
  };
  switch (fault.kind) {
    case Kind::kill_daemon:
      return signal_one(fault, names::daemon, SIGKILL, now_ms);
    case Kind::end_daemon:
      return signal_one(fault, names::daemon, SIGTERM, now_ms);
    case Kind::stop_daemon:
      return signal_one(fault, names::daemon, SIGSTOP, now_ms);
    case Kind::kill_shim:
      return signal_one(fault, names::shim, SIGKILL, now_ms);
    case Kind::stop_shim:
      return signal_one(fault, names::shim, SIGSTOP, now_ms);
    case Kind::end_shim:
      return signal_one(fault, names::shim, SIGTERM, now_ms);
    case Kind::kill_worker:
      return signal_one(fault, names::worker, SIGKILL, now_ms);
    case Kind::stop_worker:
      return signal_one(fault, names::worker, SIGSTOP, now_ms);
    case Kind::end_worker:
      return signal_one(fault, names::worker, SIGTERM, now_ms);
    case Kind::kill_helper:
      return signal_one(fault, names::helper, SIGKILL, now_ms);
    case Kind::stop_helper:
      return signal_one(fault, names::helper, SIGSTOP, now_ms);
    case Kind::stop_all:
      return stop_all(fault, now_ms);
    case Kind::log_burst:
      return signal_one(fault, names::worker, SIGRTMIN, now_ms);
    case Kind::checkpoint_burst:
      return burst_of_checkpoints(fault);
    case Kind::commands:
      return run_commands(fault, now_ms);
    case Kind::api_flood:
      (void)crowd(socket, 50 + fault.amount,
                  "GET /v1/programs HTTP/1.1\r\nHost: localhost\r\n\r\n");
      return;
    case Kind::idle_clients:
      return hold(fault, now_ms, crowd(socket, 30 + fault.amount / 10, ""));
    case Kind::half_requests:
      return hold(fault, now_ms, crowd(socket, 30 + fault.amount / 10, half_request));
    case Kind::vanished_clients:
      (void)crowd(socket, 1 + fault.amount / 10, stop_request);
      return;
    case Kind::datagrams: {
      const std::string program = program_at(fault.target);
      const auto attempt = arena_.attempt(program, arena_.newest_attempt(program));
      return send_rubbish(attempt / "worker.sock", fault.amount);
    }
    case Kind::pipes:
      return put_pipe(fault, now_ms);
    case Kind::disk_full:
      arena_.fill_disk();
      return later(fault, now_ms, [this] { arena_.free_disk(); });
    case Kind::read_only:
      control->read_only = 1;
      return later(fault, now_ms, [control] { control->read_only = 0; });
    case Kind::no_watches:
      control->no_watches = 1;
      return later(fault, now_ms, [control] { control->no_watches = 0; });
    case Kind::no_descriptors:
      return limit(fault, now_ms, RLIMIT_NOFILE,
                   static_cast<std::uint64_t>(daemon_has(open_descriptors)) + fault.amount % 4);
    case Kind::no_memory:
      return limit(fault, now_ms, RLIMIT_AS,
                   static_cast<std::uint64_t>(
                       daemon_has([](pid_t pid) { return memory_kib(pid, "VmSize"); }) * 1'024) +
                       fault.amount * 1'024);
    case Kind::clock:
      return move_clock(fault);
    case Kind::suspend:
      control->boot_shift_ns +=
          static_cast<std::int64_t>(1 + fault.amount * fault.amount / 100) * 1'000'000'000;
      return;
    case Kind::reload:
      return command({"reload"}, now_ms);
    case Kind::port_taken: {
      auto thieves = steal_port(arena_.port());
      return later(fault, now_ms, [thieves]() mutable { thieves.reset(); });
    }
    case Kind::journal_damaged:
      return damage_newest_journal(fault);
    case Kind::state_damaged:
    case Kind::database_back:
      return damage_state(fault);
    case Kind::folders_swapped:
      return swap_folders(fault, now_ms);
  }
}

}  // namespace trainward::chaos
