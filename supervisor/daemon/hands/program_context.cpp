#include "supervisor/daemon/hands/program_context.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "common/os/clock.hpp"
#include "supervisor/config/program_policy.hpp"
#include "supervisor/daemon/attempt/launcher.hpp"
#include "supervisor/daemon/attempt/worker_folders.hpp"

namespace trainward::daemon {

ProgramContext::ProgramContext(Services& services_in, config::Program program_in,
                               std::function<void()> changed_in)
    : services(services_in),
      program(std::move(program_in)),
      policy(config::policy_of(program)),
      changed(std::move(changed_in)) {}

void ProgramContext::note(const std::string& kind, const std::string& text) const {
  const Time at = now();
  const std::int64_t attempt = session->state().attempt;
  spdlog::info("{}: {}: {}", name(), kind, text);
  services.console.event(name(), kind, text, at);
  auto noted = services.store.add_event({0, at.wall.ms, name(), attempt, kind, text});
  if (!noted) spdlog::warn("{}: {}", name(), noted.error().message());
}

void ProgramContext::in_background(std::string what, std::function<Background::Then()> work,
                                   std::function<void()> late) const {
  if (!late) {
    late = [this, what] { note("slow", Background::slow_text({what, Background::slow_ms})); };
  }
  Background::Job job{std::move(what), unless_gone(std::move(work))};
  job.late = [alive = alive_, late = std::move(late)] {
    if (*alive) late();
  };
  services.background.run(name(), std::move(job));
}

void ProgramContext::look_at_processes(std::function<Background::Then()> look) const {
  services.background.run(name() + " processes",
                          {"look at the worker's processes", unless_gone(std::move(look))});
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): a std::function owns it

std::function<Background::Then()> ProgramContext::unless_gone(
    std::function<Background::Then()> work) const {
  return [alive = alive_, work = std::move(work)]() -> Background::Then {
    return [alive, then = work()] {
      if (*alive) then();
    };
  };
}

void ProgramContext::end_leftovers_then(std::function<void(const Status&)> then) const {
  in_background("end what an earlier attempt left",
                [program = program, paths = services.paths, spared = spared,
                 then = std::move(then)]() -> Background::Then {
                  Status ready = end_leftovers(program, paths, spared);
                  if (ready) ready = hand_over_folders(program, paths);
                  return [then, ready = std::move(ready)] { then(ready); };
                });
}

}  // namespace trainward::daemon
