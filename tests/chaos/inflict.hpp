// Doing what was drawn, and undoing it when its time is over.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "arena.hpp"
#include "audit.hpp"
#include "client.hpp"
#include "common/os/fd.hpp"
#include "faults.hpp"
#include "processes.hpp"

namespace trainward::chaos {

class Inflictor {
 public:
  explicit Inflictor(const Arena& arena) : arena_(arena) {}

  void inflict(const Fault& fault, std::int64_t now_ms);
  // Undoes what is over by now.
  void heal(std::int64_t now_ms);
  // Everything, at once.
  void heal_all();

  // Which faults are at work now.
  [[nodiscard]] bool at_work(bool (*kind)(Kind)) const;
  // Logs of "PROGRAM/ATTEMPT" that were not where the shim rotates them.
  [[nodiscard]] const Spoiled& spoiled() const { return spoiled_; }
  // By how much CLOCK_BOOTTIME was moved.
  [[nodiscard]] std::int64_t slept_ms() const;
  // The commands that were started and have not been waited for.
  // A trainwardctl that has not ended yet.
  struct Command {
    std::vector<std::string> words;
    std::int64_t since_ms = 0;
    bool told = false;  // that it does not end
  };
  [[nodiscard]] std::map<pid_t, Command>& commands() { return commands_; }
  void command(const std::vector<std::string>& words, std::int64_t now_ms);

 private:
  struct Cure {
    std::int64_t at_ms = 0;
    Kind kind{};
    std::function<void()> undo;
  };
  void later(const Fault& fault, std::int64_t now_ms, std::function<void()> undo);
  void signal_one(const Fault& fault, std::string_view name, int signal, std::int64_t now_ms);
  void stop_all(const Fault& fault, std::int64_t now_ms);
  void put_pipe(const Fault& fault, std::int64_t now_ms);
  void burst_of_checkpoints(const Fault& fault);
  void run_commands(const Fault& fault, std::int64_t now_ms);
  void hold(const Fault& fault, std::int64_t now_ms, std::vector<Fd> clients);
  void limit(const Fault& fault, std::int64_t now_ms, int resource, std::uint64_t most);
  void move_clock(const Fault& fault);
  void damage_newest_journal(const Fault& fault);
  void damage_state(const Fault& fault);
  void swap_folders(const Fault& fault, std::int64_t now_ms);

  const Arena& arena_;
  std::vector<Cure> cures_;
  Spoiled spoiled_;
  std::map<pid_t, Command> commands_;
  std::uint64_t checkpoint_ = 0;  // number of the newest file of a burst
};

}  // namespace trainward::chaos
