#include "supervisor/decide/sim/world.hpp"

#include <fmt/format.h>

#include "supervisor/decide/sim/narrate.hpp"

namespace trainward::sim {
namespace {

enum Heals : std::int64_t { disk = 1, everything = 2 };

}  // namespace

World::World(const Scenario& scenario, const Decider& decider)
    : scenario_(scenario),
      decider_(decider),
      site_(scenario.setup),
      m_(site_.machine),
      checker_(site_, decider.policy, decider.promises),
      process_(site_, decider, checker_) {
  m_.habits = decider.habits;
}

Outcome World::run() {
  for (std::size_t i = 0; i < scenario_.injections.size(); ++i) {
    m_.queue.add(scenario_.injections[i].at_ms, Due::injection, static_cast<std::int64_t>(i));
  }
  m_.queue.add(scenario_.setup.quiet_ms, Due::heal, everything);
  m_.after(scenario_.setup.look_every_ms, Due::operator_);
  m_.score.turn_to(Spent::waiting, 0);
  process_.begin();
  while (!m_.queue.empty() && m_.queue.next().at_ms < scenario_.setup.horizon_ms &&
         !checker_.violation()) {
    const Item item = m_.queue.take();
    m_.clock.true_ms = item.at_ms;
    dispatch(item);
    if (process_.settled()) checker_.at_rest(state(), process_.waits_for_answer());
  }
  if (!checker_.violation()) {
    m_.clock.true_ms = scenario_.setup.horizon_ms;
    checker_.at_end(state());
  }
  m_.score.turn_to(Spent::waiting, m_.clock.true_ms);
  const Checkpoint* kept = m_.disk.newest_good();
  m_.score.kept = kept == nullptr ? 0 : kept->step;
  return {checker_.violation(), checker_.digest(), process_.database().events(),
          m_.clock.true_ms,     m_.score,          state()};
}

void World::tell(Narrator narrator) {
  narrator_ = std::move(narrator);
  checker_.listen([this](const core::Event& event, Time at, const core::State& state,
                         std::span<const core::Action> actions) {
    say(fmt::format("  {:<40} -> {} (mono {})", describe(event), core::to_string(state.stage),
                    at.mono.ms));
    for (const core::Action& action : actions) {
      if (const std::string line = describe(action); !line.empty()) say("      " + line);
    }
  });
}

void World::dispatch(const Item& item) {
  switch (item.due) {
    case Due::worker:
      if (item.id < 0) return site_.spawn(-item.id);
      if (site_.worker) site_.worker->next(item.id);
      return;
    case Due::kernel:
      if (site_.worker_alive() && site_.worker->order().attempt == item.id) {
        site_.worker->kernel_lets_go();
      }
      return;
    case Due::shim_gone:
      if (item.id == m_.journal.attempt) m_.journal.shim_alive = false;
      return process_.take(item);
    case Due::journal:
    case Due::timer:
    case Due::answer:
    case Due::retry:
    case Due::daemon:
      return process_.take(item);
    case Due::injection:
      return inject(scenario_.injections[static_cast<std::size_t>(item.id)]);
    case Due::heal:
      return heal(item.id);
    case Due::operator_:
      return look();
  }
}

void World::say(const std::string& line) {
  if (narrator_) narrator_(m_.clock.true_ms, line);
}

// Somebody looks: what gave up is started again, what has not moved since the last look is, too.
void World::look() {
  m_.after(m_.setup.look_every_ms, Due::operator_);
  const bool moved = m_.score.executed != progress_at_last_look_;
  progress_at_last_look_ = m_.score.executed;
  if (state().stage == core::Stage::fatal) {
    say("operator: starts it again");
    return process_.handle(core::StartRequested{});
  }
  if (!decider_.promises && !moved && site_.worker_alive()) {
    process_.handle(core::RestartRequested{});
  }
}

void World::heal(std::int64_t id) {
  if (id == disk) m_.disk.full = m_.clock.true_ms < m_.disk_full_until_ms;
  if (id != everything) return;
  say("everything that can be mended is");
  m_.disk.full = false;
  m_.commits_refused_until_ms = 0;
  m_.disk_full_until_ms = 0;
  site_.waiting.clear();
  const std::vector<Board> as_made = make_boards(scenario_.setup);
  for (std::size_t i = 0; i < m_.boards.size(); ++i) {
    m_.boards[i].link_up = as_made[i].link_up;
    m_.boards[i].reset_helps = as_made[i].reset_helps;
  }
  if (state().stage == core::Stage::stopped) process_.handle(core::StartRequested{});
}

Outcome play(const Scenario& scenario, const Decider& decider) {
  return World(scenario, decider).run();
}

}  // namespace trainward::sim
