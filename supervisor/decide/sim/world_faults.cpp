// How each fault of a scenario strikes.
#include <fmt/format.h>

#include "supervisor/decide/sim/world.hpp"

namespace trainward::sim {

void World::inject(const Injection& injection) {
  const bool machine_off = m_.clock.true_ms < m_.clock.boot_true_ms;
  if (machine_off) return;
  say(fmt::format(
      "fault: {} {}{}", to_string(injection.fault), injection.amount,
      injection.moment == Moment::any ? "" : fmt::format(" in {}", to_string(injection.moment))));
  switch (injection.fault) {
    case Fault::crash:
    case Fault::error:
    case Fault::device_oom:
    case Fault::host_oom:
    case Fault::killed:
    case Fault::hang:
    case Fault::busy_hang:
    case Fault::ignores_term:
    case Fault::unkillable:
    case Fault::slow_compile:
    case Fault::bad_data:
    case Fault::spike:
    case Fault::ask_again:
    case Fault::config_error:
    case Fault::shim_killed:
      if (injection.moment != Moment::any) return site_.waiting.push_back(injection);
      if (site_.worker_alive()) site_.worker->strike(injection);
      return;
    case Fault::resume_breach:
      site_.breach_next = true;
      return;
    default:
      return inject_machine(injection);
  }
}

void World::inject_machine(const Injection& injection) {
  switch (injection.fault) {
    case Fault::launch_fails:
      m_.launch_fails = true;
      return;
    case Fault::link_lost:
    case Fault::board_dead:
      return break_board(injection);
    case Fault::probe_hangs:
      m_.probe_hangs = true;
      return;
    case Fault::reset_fails:
      m_.reset_fails = true;
      return;
    case Fault::corrupt_newest:
      return m_.disk.damage_newest();
    case Fault::select_fails:
      m_.select_fails = true;
      return;
    case Fault::lease_held:
      m_.lease_held = static_cast<int>(injection.amount);
      return;
    case Fault::cache_corrupt:
      m_.caches.corrupt = true;
      return;
    case Fault::disk_full:
      m_.disk.full = true;
      m_.disk_full_until_ms = std::max(m_.disk_full_until_ms, m_.clock.true_ms + injection.amount);
      m_.commits_refused_until_ms = m_.clock.true_ms + injection.amount;
      return m_.after(injection.amount, Due::heal, 1);
    case Fault::database_busy:
      m_.commits_refused_until_ms = m_.clock.true_ms + injection.amount;
      return;
    case Fault::daemon_killed:
      if (!process_.alive()) return;
      if (injection.amount >= 0) process_.die_at(injection.amount);
      if (injection.amount < 0) process_.crash();
      return;
    case Fault::machine_restart:
      return restart_machine(injection.amount);
    case Fault::wall_jump:
      m_.clock.wall_offset_ms += injection.amount;
      return;
    case Fault::stop:
      return process_.handle(core::StopRequested{"operator", false});
    case Fault::start:
      return process_.handle(core::StartRequested{});
    case Fault::restart:
      return process_.handle(core::RestartRequested{});
    case Fault::shutdown:
      return process_.shut_down(injection.amount);
    default:
      return;
  }
}

void World::break_board(const Injection& injection) {
  const auto index = static_cast<std::size_t>(injection.amount) % m_.boards.size();
  Board& board = m_.boards.at(index);
  board.link_up = false;
  if (injection.fault == Fault::board_dead) board.reset_helps = false;
  if (site_.worker_alive() && site_.worker->order().runs_on(static_cast<int>(index))) {
    site_.worker->strike(injection);
  }
}

void World::restart_machine(std::int64_t down_ms) {
  process_.die();
  if (site_.worker_alive()) site_.worker->vanish();
  site_.spawning.reset();
  m_.journal.shim_alive = false;
  m_.clock.boot_true_ms = m_.clock.true_ms + down_ms;
  m_.after(down_ms + 20 * second_ms, Due::daemon);
}

}  // namespace trainward::sim
