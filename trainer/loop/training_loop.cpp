#include "trainer/loop/training_loop.hpp"

#include <cmath>

namespace trainward::trainer {

Result<Ending> TrainingLoop::run() {
  ports_.reporter.phase("train");
  auto ending = train();
  // Whatever ended it, the save that is running is made whole and told.
  if (ports_.checkpoints.pending()) (void)note(ports_.checkpoints.wait());
  return ending;
}

Result<Ending> TrainingLoop::train() {
  while (progress_.step < plan_.steps) {
    if (ports_.requests.stop_requested()) {
      // A failed save has been told; the end is the same, and an older checkpoint is still there.
      (void)finish_saving();
      ports_.reporter.status(fmt::format("stopped as asked after step {}", progress_.step));
      return Ending::stopped;
    }
    auto end = one_step();
    if (!end) return propagate(end);
    switch (*end) {
      case StepEnd::not_a_number:
        return Ending::not_a_number;
      case StepEnd::done:
        break;
    }
    if (auto ok = evaluate_if_due(); !ok) return propagate(ok);
    save_if_due();
  }
  if (auto saved = finish_saving(); !saved) return propagate(saved);
  ports_.reporter.status(fmt::format("finished: {} of {} steps", progress_.step, plan_.steps));
  return Ending::finished;
}

bool TrainingLoop::time_to_save() const {
  return progress_.step % plan_.checkpoint_every == 0 && progress_.step < plan_.steps;
}

Result<TrainingLoop::StepEnd> TrainingLoop::one_step() {
  Reporter& reporter = ports_.reporter;
  const MonoTime began = reporter.now().mono;
  auto batch = data_.next();
  if (!batch) return propagate(batch);
  auto result = model_.step(*batch);
  if (!result) return propagate(result);
  if (!std::isfinite(result->loss) || !std::isfinite(result->grad_norm)) {
    tell_not_a_number(*result);
    return StepEnd::not_a_number;
  }
  const auto tokens = static_cast<std::int64_t>(batch->ids.size());
  progress_ = {progress_.step + 1, progress_.tokens + tokens, result->loss, data_.cursor()};
  rate_.add(tokens, reporter.now().mono - began);
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

// Somebody who asks for a stop does not wait for it.
Status TrainingLoop::evaluate_if_due() {
  if (plan_.evaluate_every == 0 || ports_.held_out == nullptr) return {};
  if (progress_.step % plan_.evaluate_every != 0 && progress_.step != plan_.steps) return {};
  ports_.reporter.phase("evaluate");
  double sum = 0;
  std::int64_t batches = 0;
  while (batches < ports_.held_out->batches() && !ports_.requests.stop_requested()) {
    auto tokens = ports_.held_out->batch(batches);
    if (!tokens) return propagate(tokens);
    auto loss = model_.evaluate(*tokens);
    if (!loss) return propagate(loss);
    sum += *loss;
    ++batches;
    ports_.reporter.alive();
  }
  if (batches == ports_.held_out->batches()) {
    ports_.reporter.evaluated(progress_.step, sum / static_cast<double>(batches));
  }
  ports_.reporter.phase("train");
  return {};
}

void TrainingLoop::save_if_due() {
  (void)note(ports_.checkpoints.take());
  const bool asked = ports_.requests.take_save_request();
  const bool due = asked || time_to_save();
  if (!due && !save_owed_) return;
  if (const auto running = ports_.checkpoints.pending()) {
    if (due && !save_owed_) {
      ports_.reporter.status(
          fmt::format("step {}: the next save waits, that of step {} is still running",
                      progress_.step, *running));
    }
    save_owed_ = true;
    return;
  }
  begin_save();
}

// The phase lasts as long as the training waits.
void TrainingLoop::begin_save() {
  save_owed_ = false;
  ports_.reporter.phase("save");
  if (auto begun = ports_.checkpoints.begin(progress_); !begun) {
    (void)note(CheckpointPort::Outcome{progress_.step, propagate(begun), 0});
  }
  (void)note(ports_.checkpoints.take());  // there already when the training has waited for it
  ports_.reporter.phase("train");
}

// Until the step that was reached is on disk.
Status TrainingLoop::finish_saving() {
  ports_.reporter.phase("save");
  (void)note(ports_.checkpoints.wait());
  Status last;
  if (saved_step_ != progress_.step) {
    last = ports_.checkpoints.begin(progress_);
    last = note(last ? ports_.checkpoints.wait()
                     : CheckpointPort::Outcome{progress_.step, propagate(last), 0});
  }
  ports_.reporter.phase("train");
  return last;
}

Status TrainingLoop::note(std::optional<CheckpointPort::Outcome> outcome) {
  if (!outcome) return {};
  if (outcome->folder) {
    saved_step_ = outcome->step;
    ports_.reporter.saved(*outcome->folder, outcome->step, outcome->write_ms);
    return {};
  }
  ports_.reporter.error(
      fmt::format("step {} is not saved: {}", outcome->step, outcome->folder.error().message()));
  return propagate(outcome->folder);
}

}  // namespace trainward::trainer
