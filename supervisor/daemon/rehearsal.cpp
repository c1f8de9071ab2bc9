// What a command would do and cost, before it is given. Changes nothing.
#include <algorithm>

#include "common/base/text.hpp"
#include "supervisor/daemon/daemon_parts.hpp"

namespace trainward::daemon {
namespace {

struct Cost {
  std::int64_t last_step = 0;
  std::int64_t kept_step = 0;
  std::int64_t at_risk = 0;  // done since the newest verified checkpoint
};

Cost cost_of(const core::State& state) {
  Cost cost{state.current.last_step.number, state.history.kept_step.number, 0};
  if (core::has_worker(state.stage)) {
    cost.at_risk = std::max<std::int64_t>(cost.last_step - cost.kept_step, 0);
  }
  return cost;
}

std::string of_steps(const Cost& cost) {
  if (cost.kept_step == 0) return fmt::format("all {} so far", count(cost.at_risk, "step"));
  return fmt::format("{} since step {}", count(cost.at_risk, "step"), cost.kept_step);
}

// Of ending a worker that runs.
std::string price(const Cost& cost, bool saves) {
  if (cost.at_risk == 0) return "no step is lost";
  if (saves) {
    return fmt::format("it saves before it ends, so nothing is lost; if it cannot, {} are",
                       of_steps(cost));
  }
  return fmt::format("it does not save when it is asked to stop: {} are lost", of_steps(cost));
}

std::string start_message(const ProgramRunner& runner, bool nothing) {
  const std::int64_t kept = runner.state().history.kept_step.number;
  if (nothing) return fmt::format("it runs already: {}", runner.state().reason);
  return kept == 0 ? "it starts at its first step: no checkpoint is verified"
                   : fmt::format("it goes on from step {}, the newest verified checkpoint", kept);
}

}  // namespace

Result<json::value> Daemon::rehearse(const std::string& program, api::Verb verb) const {
  if (auto ok = known(program); !ok) return propagate(ok);
  const ProgramRunner& runner = *runners_.at(program);
  const core::State& state = runner.state();
  const bool saves = runner.program().saves_when_asked;
  const bool has_worker = core::has_worker(state.stage);
  const Cost cost = cost_of(state);
  std::string would;
  std::string message;
  if (verb == api::Verb::start_from_scratch) {
    const bool nothing = has_worker && state.wanted;
    would = nothing ? "nothing" : "start";
    message = nothing ? start_message(runner, true)
                      : "it starts at step 0; what it has saved so far is not gone on from";
  } else if (verb == api::Verb::start) {
    const bool nothing = !runner.at_rest() && state.stage != core::Stage::backoff && state.wanted;
    would = nothing ? "nothing" : "start";
    message = start_message(runner, nothing);
  } else if (verb == api::Verb::stop) {
    would = runner.at_rest() ? "nothing" : "stop";
    message = runner.at_rest() ? "it is not running"
              : has_worker     ? price(cost, saves)
                               : "no worker runs: no step is lost";
  } else {
    would = runner.at_rest() ? "start" : "restart";
    message = has_worker ? price(cost, saves) + "; then " : "";
    message += start_message(runner, false);
  }
  const bool ends_worker = has_worker && would != "start" && would != "nothing";
  return json::object{{"program", program},
                      {"would", would},
                      {"last_step", cost.last_step},
                      {"kept_step", cost.kept_step},
                      {"steps_at_risk", ends_worker ? cost.at_risk : 0},
                      {"message", message}};
}

json::value Daemon::rehearse_all(api::Verb verb) const {
  json::array all;
  for (const auto& [name, runner] : runners_) {
    if (auto one = rehearse(name, verb)) all.push_back(std::move(*one));
  }
  return all;
}

}  // namespace trainward::daemon
