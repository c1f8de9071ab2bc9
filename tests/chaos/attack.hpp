// One attack from the first start to the last look: keeps the daemon alive as an init system would,
// does what was drawn, and watches.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "arena.hpp"
#include "audit.hpp"
#include "client.hpp"
#include "faults.hpp"
#include "inflict.hpp"

namespace trainward::chaos {

struct Figures {
  std::int64_t faults = 0;
  std::int64_t daemon_starts = 0;
  std::int64_t api_answers = 0;
  std::int64_t slowest_answer_ms = 0;
  LoopLatency loop;  // the worst of all daemons; zeros: they did not say
  std::int64_t slowest_recovery_ms = 0;
  std::int64_t descriptors_before = 0, descriptors_after = 0;
  std::int64_t memory_before_kib = 0, memory_after_kib = 0;
  Audited audited;
};

class Attack {
 public:
  Attack(const Arena& arena, std::vector<Fault> faults)
      : arena_(arena),
        faults_(std::move(faults)),
        inflictor_(arena),
        pulse_(arena.state() / "trainward.sock") {}

  // Until the end, or the first thing that broke.
  void run();
  [[nodiscard]] const Problems& problems() const { return problems_; }
  [[nodiscard]] const Figures& figures() const { return figures_; }
  // The faults that were inflicted, newest last.
  [[nodiscard]] std::size_t inflicted() const { return next_; }

 private:
  void start_daemon();
  void tick();  // a few milliseconds: reaps, heals, restarts, watches
  void reap();
  void on_daemon_end(int status);
  void feel_pulse();
  void on_answer();
  void look_around();
  void inflict_due();
  bool calm_down();
  bool all_work() const;
  void measure();
  void finish();
  void broken(const std::string& what);
  std::int64_t now_ms() const;
  std::int64_t boot_ms() const;

  const Arena& arena_;
  std::vector<Fault> faults_;
  Inflictor inflictor_;
  Pulse pulse_;
  Problems problems_;
  Figures figures_;

  pid_t daemon_ = 0;
  bool daemon_answered_ = false;
  bool end_expected_ = false;
  bool start_hampered_ = false;       // since the daemon was started, by a fault at work
  std::int64_t started_ms_ = 0;       // of the first daemon
  std::int64_t start_due_ms_ = 0;     // of the next daemon
  std::int64_t asked_to_end_ms_ = 0;  // the daemon was, and its programs with it; 0: no
  std::int64_t unwanted_ms_ = 0;      // time that no program was wanted: after such an end
  std::int64_t paused_ms_ = 0;        // time of the attack in which nothing was inflicted
  std::int64_t tick_ms_ = 0;
  std::int64_t silence_until_ms_ = 0;
  std::int64_t memory_until_ms_ = 0;     // until then the daemon may end for want of memory
  std::int64_t reloading_until_ms_ = 0;  // until then a reload may be on its way
  std::int64_t reload_until_ms_ = 0;     // until then one may end for want of its disk
  std::int64_t kept_waiting_ms_ = 0;     // of the daemon, when the last question was asked
  std::int64_t answered_ms_ = 0;
  std::int64_t look_ms_ = 0;
  std::set<pid_t> workers_;  // at the last look
  std::map<pid_t, std::int64_t> zombies_;
  std::size_t next_ = 0;
  std::int64_t calm_at_ms_ = 0;
};

}  // namespace trainward::chaos
