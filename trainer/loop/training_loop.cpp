#include "trainer/loop/training_loop.hpp"

#include <cmath>

namespace trainward::trainer {

Result<Ending> TrainingLoop::run() {
  ports_.reporter.phase("train");
  while (progress_.step < plan_.steps) {
    if (ports_.requests.stop_requested()) {
      // A failed save has been told; the end is the same, and an older checkpoint is still there.
      if (saved_step_ != progress_.step) (void)save();
      ports_.reporter.status(fmt::format("stopped as asked after step {}", progress_.step));
      return Ending::stopped;
    }
    auto end = one_step();
    if (!end) return propagate(end);
    switch (*end) {
      case StepEnd::not_a_number:
        return Ending::not_a_number;
      case StepEnd::device_failed:
        return Ending::device_failed;
      case StepEnd::done:
        break;
    }
    const bool asked = ports_.requests.take_save_request();
    if (!asked && !time_to_save()) continue;
    auto saved = save();
    if (!saved && progress_.step == plan_.steps) return propagate(saved);
  }
  ports_.reporter.status(fmt::format("finished: {} of {} steps", progress_.step, plan_.steps));
  return Ending::finished;
}

bool TrainingLoop::time_to_save() const {
  return progress_.step % plan_.checkpoint_every == 0 || progress_.step == plan_.steps;
}

Result<TrainingLoop::StepEnd> TrainingLoop::one_step() {
  if (ports_.board != nullptr) {
    auto answer = ports_.board->begin_step();
    if (!answer) {
      ports_.reporter.raw_error(as_the_device_prints_it(answer.error().what));
      return StepEnd::device_failed;
    }
    if (*answer == BoardAnswer::hangs) ports_.hang();
  }
  return train_on_next_batch();
}

Result<TrainingLoop::StepEnd> TrainingLoop::train_on_next_batch() {
  Reporter& reporter = ports_.reporter;
  const std::int64_t began = reporter.now().mono_ms;
  const auto batch = data_.next();
  auto result = model_.step(batch);
  if (!result) return propagate(result);
  if (!std::isfinite(result->loss) || !std::isfinite(result->grad_norm)) {
    tell_not_a_number(*result);
    return StepEnd::not_a_number;
  }
  const auto tokens = static_cast<std::int64_t>(batch.size());
  progress_ = {progress_.step + 1, progress_.tokens + tokens, result->loss, data_.cursor()};
  rate_.add(tokens, reporter.now().mono_ms - began);
  const double rate = rate_.tokens_per_second();
  reporter.step(progress_, result->grad_norm, rate);
  if (progress_.step % plan_.log_every == 0) {
    reporter.log_step(progress_, result->grad_norm, rate);
  }
  return StepEnd::done;
}

// The words "loss = nan" are what log rules for any trainer look for.
void TrainingLoop::tell_not_a_number(const StepResult& result) {
  const std::int64_t step = progress_.step + 1;
  if (std::isfinite(result.loss)) {
    ports_.reporter.raw_error(
        fmt::format("step {}: gradient norm {}, so the next step would have loss = nan\n", step,
                    result.grad_norm));
  } else {
    ports_.reporter.raw_error(fmt::format("step {}: loss = {}\n", step, result.loss));
  }
}

Status TrainingLoop::save() {
  Reporter& reporter = ports_.reporter;
  reporter.phase("save");
  auto folder = ports_.save(progress_);
  if (folder) {
    saved_step_ = progress_.step;
    reporter.saved(*folder, progress_.step);
  } else {
    reporter.error(
        fmt::format("step {} is not saved: {}", progress_.step, folder.error().message()));
  }
  reporter.phase("train");
  if (!folder) return propagate(folder);
  return {};
}

}  // namespace trainward::trainer
