#include "attack.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>

#include "common/os/file.hpp"
#include "counts.hpp"
#include "damage.hpp"
#include "processes.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::chaos {
namespace {

constexpr int tick_ms = 5;
constexpr std::int64_t look_every_ms = 250;
constexpr std::int64_t calm_every_ms = 60'000;
constexpr std::int64_t restart_after_ms = 150;
constexpr std::int64_t longest_answer_ms = 1'000;
constexpr std::int64_t late_ms = 100;  // of this process itself
// A fault that silences the daemon has after-effects: a queue of clients, journals to catch up on.
constexpr std::int64_t after_silence_ms = 2'000;
constexpr std::int64_t recovery_ms = 90'000;
constexpr std::int64_t end_ms = 60'000;
constexpr std::int64_t zombie_ms = 3'000;
constexpr std::int64_t command_ms = 60'000;
constexpr std::int64_t more_descriptors = 12;
constexpr std::int64_t more_memory_kib = 96 * 1'024;

bool hampers_start(Kind kind) {
  return kind == Kind::read_only || kind == Kind::disk_full || kind == Kind::no_descriptors ||
         kind == Kind::no_memory || kind == Kind::pipes || kind == Kind::stop_all;
}

bool takes_memory(Kind kind) { return kind == Kind::no_memory; }

}  // namespace

std::int64_t Attack::now_ms() const {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000 + time.tv_nsec / 1'000'000;
}

// As the programs under attack see it: with the time they seem to have slept.
std::int64_t Attack::boot_ms() const { return now_ms() + inflictor_.slept_ms(); }

void Attack::broken(const std::string& what) {
  problems_.push_back(what);
  fmt::print("BROKEN at {:.3f} s: {}\n", static_cast<double>(now_ms() - started_ms_) / 1'000, what);
}

void Attack::start_daemon() {
  daemon_ = arena_.start_daemon();
  ++figures_.daemon_starts;
  daemon_answered_ = end_expected_ = start_hampered_ = false;
  if (asked_to_end_ms_ != 0) unwanted_ms_ += boot_ms() - asked_to_end_ms_;
  asked_to_end_ms_ = 0;
  silence_until_ms_ = now_ms() + after_silence_ms;
}

// ---- what goes on all the time ----

void Attack::reap() {
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    inflictor_.commands().erase(pid);
    if (pid == daemon_) on_daemon_end(status);
  }
}

void Attack::on_daemon_end(int status) {
  daemon_ = 0;
  pulse_.forget();
  start_due_ms_ = now_ms() + restart_after_ms;
  const bool hampered =
      daemon_answered_ ? now_ms() < std::max(memory_until_ms_, reload_until_ms_) : start_hampered_;
  if (end_expected_ || hampered) return;
  broken(fmt::format("trainwardd ended by itself{}: {} {}",
                     daemon_answered_ ? "" : " before it answered",
                     WIFEXITED(status) ? "exit code" : "signal",
                     WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status)));
}

void Attack::on_answer() {
  daemon_answered_ = true;
  answered_ms_ = now_ms();
}

// An answer that is late because this process was, says nothing.
void Attack::feel_pulse() {
  const std::int64_t now = now_ms();
  const bool late_ourselves = now - tick_ms_ > late_ms;
  if (inflictor_.at_work(silences_daemon)) silence_until_ms_ = now + after_silence_ms;
  if (late_ourselves || now < silence_until_ms_) {
    // Still felt, so that a daemon that answers is known to be up.
    if (pulse_.beat(now)) on_answer();
    if (late_ourselves) pulse_.forget();
    return;
  }
  if (const auto answer = pulse_.beat(now)) {
    on_answer();
    ++figures_.api_answers;
    figures_.slowest_answer_ms = std::max(figures_.slowest_answer_ms, answer->took_ms);
    if (answer->loop) {
      figures_.loop.p99 = std::max(figures_.loop.p99, answer->loop->p99);
      figures_.loop.most = std::max(figures_.loop.most, answer->loop->most);
    }
  }
  // Time for which other work of the machine had the processors is not the daemon's.
  if (pulse_.waiting_ms(now) == 0) kept_waiting_ms_ = kept_waiting_ms(daemon_);
  if (pulse_.waiting_ms(now) <= longest_answer_ms) return;
  const std::int64_t kept_waiting = kept_waiting_ms(daemon_) - kept_waiting_ms_;
  if (pulse_.waiting_ms(now) - kept_waiting > longest_answer_ms) {
    broken(
        fmt::format("trainwardd has not answered for {} ms; for {} ms of them it had no processor",
                    pulse_.waiting_ms(now), kept_waiting));
    pulse_.forget();
  }
}

void Attack::look_around() {
  const std::int64_t now = now_ms();
  if (now < look_ms_) return;
  look_ms_ = now + look_every_ms;
  const auto all = descendants();
  // Seen at two looks: one may just be ending.
  std::map<std::string, int> copies;
  std::set<pid_t> seen;
  for (const Process& worker : workers(all)) {
    seen.insert(worker.pid);
    if (workers_.contains(worker.pid)) ++copies[worker.program];
  }
  workers_ = std::move(seen);
  for (const auto& [program, count] : copies) {
    if (count > 1 && !program.empty()) broken(fmt::format("{} runs {} times", program, count));
  }
  if (auto text = read_file(arena_.book() / "second-copies", 1 << 16)) {
    broken("a worker met a copy of itself: " + *text);
  }
  std::map<pid_t, std::int64_t> zombies;
  for (const Process& process : all) {
    if (process.state != 'Z' || process.parent != daemon_) continue;
    const auto since = zombies_.find(process.pid);
    zombies[process.pid] = since == zombies_.end() ? now : since->second;
    if (now - zombies[process.pid] > zombie_ms && now > silence_until_ms_) {
      broken(fmt::format("trainwardd leaves a zombie: {} {}", process.pid, process.name));
    }
  }
  zombies_ = std::move(zombies);
  for (auto& [pid, command] : inflictor_.commands()) {
    if (command.told || now - command.since_ms <= command_ms) continue;
    command.told = true;
    broken(fmt::format("`trainwardctl {}` ({}) does not end", fmt::join(command.words, " "), pid));
  }
}

void Attack::tick() {
  ::poll(nullptr, 0, tick_ms);
  // An end for want of memory may be seen only after the memory was given back.
  if (inflictor_.at_work(takes_memory)) memory_until_ms_ = now_ms() + after_silence_ms;
  start_hampered_ = start_hampered_ || inflictor_.at_work(hampers_start);
  // A reload is a start: one whose disk went away between its rehearsal and the exec may end.
  if (now_ms() < reloading_until_ms_ && inflictor_.at_work(hampers_start)) {
    reload_until_ms_ = now_ms() + after_silence_ms;
  }
  reap();
  inflictor_.heal(now_ms());
  if (daemon_ == 0 && now_ms() >= start_due_ms_) start_daemon();
  feel_pulse();
  look_around();
  tick_ms_ = now_ms();
}

// ---- the attack ----

void Attack::inflict_due() {
  while (next_ < faults_.size() && faults_[next_].at_ms <= now_ms() - started_ms_ - paused_ms_) {
    const Fault& fault = faults_[next_++];
    if (ends_daemon(fault.kind)) end_expected_ = true;
    if (fault.kind == Kind::reload) reloading_until_ms_ = now_ms() + after_silence_ms;
    if (fault.kind == Kind::end_daemon && asked_to_end_ms_ == 0) asked_to_end_ms_ = boot_ms();
    if (silences_daemon(fault.kind)) silence_until_ms_ = now_ms() + after_silence_ms;
    const std::int64_t began = now_ms();
    inflictor_.inflict(fault, began);
    ++figures_.faults;
    // Making a thousand files takes a while, in which nobody read the daemon's answer.
    if (now_ms() - began > late_ms) pulse_.forget();
    tick_ms_ = now_ms();
  }
}

// Every program has a worker that goes on, and the database knows.
bool Attack::all_work() const {
  auto store = store::Store::open_read_only(arena_.state() / "trainward.db");
  if (!store) return false;
  for (const char* program : programs::all) {
    auto row = store->program(program);
    if (!row || !*row || ((*row)->state != "RUNNING" && (*row)->state != "STARTING")) return false;
    const std::string file =
        counts_file(arena_.book().string(), program, arena_.newest_attempt(program));
    const auto before = read_counts(file);
    ::poll(nullptr, 0, 120);
    const auto after = read_counts(file);
    if (!before || !after || after->lines == before->lines) return false;
  }
  return page_answers(arena_.port());
}

// Heals everything and waits until every program works.
bool Attack::calm_down() {
  const std::int64_t began = now_ms();
  inflictor_.heal_all();
  if (arena_.control() != nullptr) arena_.control()->wall_shift_ns = 0;
  for (const Process& process : descendants()) ::kill(process.pid, SIGCONT);
  std::int64_t start_ms = 0;
  for (;;) {
    tick();
    // What gave up is started again, as its owner would.
    if (now_ms() >= start_ms && inflictor_.commands().empty()) {
      inflictor_.command({"start", "all"}, now_ms());
      start_ms = now_ms() + 3'000;
    }
    const bool answers = answered_ms_ > began && !end_expected_;
    if (answers && inflictor_.commands().empty() && all_work()) break;
    if (now_ms() - began > recovery_ms) {
      broken(fmt::format("not every program works again {} s after the last fault",
                         recovery_ms / 1'000));
      break;
    }
  }
  figures_.slowest_recovery_ms = std::max(figures_.slowest_recovery_ms, now_ms() - began);
  paused_ms_ += now_ms() - began;
  calm_at_ms_ = now_ms();
  return problems_.empty();
}

void Attack::measure() {
  figures_.descriptors_after = open_descriptors(daemon_);
  figures_.memory_after_kib = memory_kib(daemon_, "VmRSS");
  if (figures_.descriptors_before == 0) {
    figures_.descriptors_before = figures_.descriptors_after;
    figures_.memory_before_kib = figures_.memory_after_kib;
  }
  if (figures_.descriptors_after > figures_.descriptors_before + more_descriptors) {
    broken(fmt::format("trainwardd has {} descriptors open, {} before the attack",
                       figures_.descriptors_after, figures_.descriptors_before));
  }
  // A sanitizer, which is there where the library is not, keeps freed memory for a while.
  const bool telling = arena_.control() != nullptr;
  if (telling && figures_.memory_after_kib > figures_.memory_before_kib + more_memory_kib) {
    broken(fmt::format("trainwardd has grown from {} KiB to {} KiB", figures_.memory_before_kib,
                       figures_.memory_after_kib));
  }
}

void Attack::finish() {
  end_expected_ = true;
  const std::int64_t asked = now_ms();
  const pid_t last = daemon_;
  ::kill(last, SIGTERM);
  int status = 0;
  while (::waitpid(last, &status, WNOHANG) == 0 && now_ms() - asked < end_ms) {
    ::poll(nullptr, 0, tick_ms);
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return broken("trainwardd does not end with 0 when asked to: status " + std::to_string(status));
  }
  const std::int64_t passed = boot_ms() - started_ms_;
  std::vector<Process> left;
  do {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) ::poll(nullptr, 0, 0);
    left = descendants();
    ::poll(nullptr, 0, tick_ms);
  } while (!left.empty() && now_ms() - asked < end_ms);
  for (const Process& process : left) {
    broken(fmt::format("{} {} of {} is left", process.name, process.pid, process.program));
  }
  Problems found;
  figures_.audited = audit_attempts(arena_, inflictor_.spoiled(), found);
  audit_ledger(arena_, passed, unwanted_ms_, inflictor_.spoiled(), found);
  audit_folders(arena_, found);
  for (const auto& group : cgroups_of(arena_))
    found.push_back("a cgroup is left: " + group.string());
  for (const std::string& what : found) broken(what);
}

void Attack::run() {
  started_ms_ = tick_ms_ = now_ms();
  start_daemon();
  if (!calm_down()) return;
  measure();
  while (next_ < faults_.size() && problems_.empty()) {
    tick();
    inflict_due();
    if (now_ms() - calm_at_ms_ < calm_every_ms) continue;
    if (!calm_down()) return;
    measure();
  }
  if (!problems_.empty() || !calm_down()) return;
  measure();
  finish();
}

}  // namespace trainward::chaos
