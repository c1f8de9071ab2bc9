#include "supervisor/config/program_policy.hpp"

#include <algorithm>

#include "common/base/json/json.hpp"

namespace trainward::config {
namespace {

// Of our own worker; a command's last step is not known.
std::int64_t target_step_of(const Program& program) {
  auto training = get_object(program.worker, "training_config");
  return training ? int_or(**training, "steps", 0) : 0;
}

}  // namespace

core::Policy policy_of(const Program& program) {
  const bool own = program.command.empty();
  const foreign::WatchSpec& watch = program.watch;
  core::Policy policy;
  policy.autorestart = program.autorestart;
  policy.target_step = {target_step_of(program)};
  policy.needs_board = program.needs_board;
  policy.can_reset = !program.reset_command.empty();
  policy.grow_after_ms = program.grow_after_ms;
  policy.watch_cpu = watch.cpu_time;
  // Silence proves nothing of a program that was never expected to say anything.
  policy.speaks = own || watch.protocol || !watch.status_file.empty() || !watch.log.empty();
  policy.foreign = !own && !watch.protocol;
  policy.told_to_resume = is_told_to_resume(program);
  policy.keeps_checkpoints = own || watch.protocol || !watch.checkpoints.empty();
  policy.saves_when_asked = program.saves_when_asked;
  policy.stop_signal = program.stop_signal;
  policy.done_codes = program.exit_codes;
  policy.deadlines = program.deadlines;
  policy.budgets = program.budgets;
  policy.backoff = program.backoff;
  policy.shrinking = program.shrinking;
  policy.cadence = program.cadence;
  policy.rollback = program.rollback;
  if (!own && foreign::is_only_recognised(watch)) {
    // A number that is called loss need not be one that falls, until somebody says so.
    policy.rollback.loss_spike = false;
  }
  policy.quarantine = program.quarantine;
  return policy;
}

bool is_told_to_resume(const Program& program) {
  if (program.command.empty() || program.watch.protocol) return true;
  const auto tells = [](const foreign::Template& text) {
    return text.names("checkpoint") || text.names("resume_step");
  };
  return std::any_of(program.command.begin(), program.command.end(),
                     [&](const foreign::Argument& argument) {
                       return std::any_of(argument.words.begin(), argument.words.end(), tells);
                     }) ||
         std::any_of(program.environment.begin(), program.environment.end(),
                     [&](const auto& variable) { return tells(variable.second); });
}

}  // namespace trainward::config
