#include "trainer/loop/training_loop.hpp"

#include <algorithm>
#include <chrono>
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
  // For the step it resumes from, before its first new step.
  if (auto ok = look(); !ok) return propagate(ok);
  // A kill may have come between a save and the marks of the best.
  if (!progress_.evaluations.best.empty() && plan_.keep_best > 0) keep_best();
  while (true) {
    if (owes_evaluation() || owes_samples()) return stop();  // nothing else cuts them short
    if (out_of_patience()) return end_early();
    if (progress_.step >= plan_.steps) break;
    if (ports_.requests.stop_requested()) return stop();
    auto end = one_step();
    if (!end) return propagate(end);
    switch (*end) {
      case StepEnd::not_a_number:
        return Ending::not_a_number;
      case StepEnd::done:
        break;
    }
    if (auto ok = look(); !ok) return propagate(ok);
    if (auto ok = save_if_due(); !ok) return propagate(ok);
    remember();
  }
  if (auto saved = finish_saving(); !saved) return propagate(saved);
  ports_.reporter.status(fmt::format("finished: {} of {} steps", progress_.step, plan_.steps));
  return Ending::finished;
}

// Copies that differ are no state to go back to.
void TrainingLoop::remember() {
  if (ports_.replicas != nullptr && ports_.replicas->agreed() != progress_.step) return;
  ports_.checkpoints.remember(progress_, took_);
}

Result<Ending> TrainingLoop::stop() {
  // A failed save has been told; the end is the same, and an older checkpoint is still there.
  (void)finish_saving();
  std::string owed;
  if (owes_evaluation()) {
    owed = "; it is evaluated when the run resumes";
  } else if (owes_samples()) {
    owed = "; its samples are made when the run resumes";
  }
  ports_.reporter.status(fmt::format("stopped as asked after step {}{}", progress_.step, owed));
  return Ending::stopped;
}

// The run has no more steps than those it has done.
Result<Ending> TrainingLoop::end_early() {
  const Evaluated best = progress_.evaluations.best.front();
  ports_.reporter.target(progress_.step);
  if (auto saved = finish_saving(); !saved) return propagate(saved);
  ports_.reporter.early_end(fmt::format(
      "finished after step {} of {}: no evaluation has been better than {:.4f} at step "
      "{} since then, {} in a row",
      progress_.step, plan_.steps, best.loss, best.step, progress_.evaluations.since_best));
  return Ending::finished;
}

bool TrainingLoop::time_to_save() const {
  return progress_.step % plan_.checkpoint_every == 0 && progress_.step < plan_.steps;
}

Result<TrainingLoop::StepEnd> TrainingLoop::one_step() {
  Reporter& reporter = ports_.reporter;
  const MonoTime began = reporter.now().mono;
  const auto asked = std::chrono::steady_clock::now();
  auto batch = data_.next();
  const std::chrono::duration<double, std::milli> waited = std::chrono::steady_clock::now() - asked;
  if (!batch) return propagate(batch);
  auto result = model_.step(*batch);
  const bool lost = !result || !std::isfinite(result->loss) || !std::isfinite(result->grad_norm);
  if (lost && ports_.replicas != nullptr) {
    if (auto ok = ports_.replicas->after_lost_step(progress_.step); !ok) return propagate(ok);
  }
  if (!result) return propagate(result);
  if (lost) {
    tell_not_a_number(*result);
    return StepEnd::not_a_number;
  }
  const std::int64_t tokens = data_.tokens();
  progress_ = {progress_.step + 1, progress_.tokens + tokens, result->loss, data_.cursor(),
               std::move(progress_.evaluations)};
  const std::int64_t took = reporter.now().mono - began;
  rate_.add(tokens, took);
  const StepFigures figures = figures_of(*result, {took, waited.count()});
  took_ = std::chrono::steady_clock::now() - asked;
  reporter.step(progress_.step, figures, ports_.checkpoints.in_memory());
  if (progress_.step % plan_.log_every == 0) reporter.log_step(progress_.step, figures);
  if (ports_.devices != nullptr) {
    const auto wait = std::chrono::duration_cast<std::chrono::nanoseconds>(waited);
    if (auto ok = tell_devices(tokens, wait); !ok) return propagate(ok);
  }
  if (ports_.replicas != nullptr) {
    auto ok = ports_.replicas->after_step(progress_.step, std::chrono::steady_clock::now() - asked);
    if (!ok) return propagate(ok);
  }
  return StepEnd::done;
}

StepFigures TrainingLoop::figures_of(const StepResult& result, StepTimes took) const {
  StepFigures told{.loss = progress_.loss,
                   .grad_norm = result.grad_norm,
                   .tokens = progress_.tokens,
                   .tokens_per_second = rate_.tokens_per_second(),
                   .input_wait_ms = took.input_wait_ms};
  // More than is possible: the configured peak is too low.
  if (plan_.peak_seconds) told.mfu = std::min(*plan_.peak_seconds * rate_.steps_per_second(), 1.0);
  if (result.communication_us > 0) {
    const double step_us = 1000.0 * static_cast<double>(std::max<std::int64_t>(took.step_ms, 1));
    told.communication = std::min(static_cast<double>(result.communication_us) / step_us, 1.0);
  }
  if (const auto memory = model_.device_memory()) {
    told.device_memory = memory->most;
    told.device_memory_limit = memory->limit;
  }
  return told;
}

Status TrainingLoop::tell_devices(std::int64_t tokens, std::chrono::nanoseconds input_wait) {
  auto window =
      ports_.devices->after({progress_.step, tokens, input_wait, std::chrono::steady_clock::now()});
  if (!window) return propagate(window);
  if (*window) ports_.reporter.devices(**window);
  return {};
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

bool TrainingLoop::is_time(std::int64_t every) const {
  if (progress_.step == 0) return plan_.evaluate_first;
  return progress_.step % every == 0 || progress_.step == plan_.steps;
}

bool TrainingLoop::owes_evaluation() const {
  return plan_.evaluate_every > 0 && ports_.held_out != nullptr && is_time(plan_.evaluate_every) &&
         progress_.evaluations.evaluated_step != progress_.step;
}

bool TrainingLoop::owes_samples() const {
  const std::int64_t usual =
      plan_.evaluate_every > 0 ? plan_.evaluate_every : plan_.checkpoint_every;
  const std::int64_t every = plan_.sample_every > 0 ? plan_.sample_every : usual;
  return ports_.samples != nullptr && is_time(every) &&
         progress_.evaluations.sampled_step != progress_.step;
}

// At the model as it is now, where it is time: from outside, by its loss, and by what it says.
Status TrainingLoop::look() {
  among_best_ = false;
  const bool looks = owes_evaluation() || owes_samples();
  if (!looks || ports_.devices == nullptr) return look_now();
  auto window = ports_.devices->before_break(progress_.step);
  if (!window) return propagate(window);
  if (*window) ports_.reporter.devices(**window);
  if (auto ok = look_now(); !ok) return ok;
  return ports_.devices->after_break(std::chrono::steady_clock::now());
}

Status TrainingLoop::look_now() {
  if (owes_evaluation() && !ports_.requests.stop_requested()) {
    ports_.reporter.phase("evaluate");
    auto ok = evaluate();
    ports_.reporter.phase("train");
    if (!ok) return ok;
  }
  if (owes_samples() && !ports_.requests.stop_requested()) {
    ports_.reporter.phase("evaluate");
    speak();
    ports_.reporter.phase("train");
  }
  return {};
}

void TrainingLoop::speak() {
  auto whole = ports_.samples->speak(progress_.step);
  if (!whole) {
    ports_.reporter.error(
        fmt::format("no samples of step {}: {}", progress_.step, whole.error().message()));
  }
  if (!whole || *whole) progress_.evaluations.sampled_step = progress_.step;
}

// A requested stop does not wait for it.
Status TrainingLoop::evaluate() {
  double sum = 0;
  std::int64_t batches = 0;
  bool weighted = false;
  while (batches < ports_.held_out->batches() && !ports_.requests.stop_requested()) {
    auto tokens = ports_.held_out->batch(batches);
    if (!tokens) return propagate(tokens);
    auto loss = model_.evaluate(*tokens);
    if (!loss) return propagate(loss);
    weighted = !tokens->weights.empty();
    sum += *loss;
    ++batches;
    ports_.reporter.alive();
  }
  if (batches != ports_.held_out->batches()) return {};
  return note_evaluation(weighted ? sum : sum / static_cast<double>(batches));
}

Status TrainingLoop::note_evaluation(double loss) {
  ports_.reporter.evaluated(progress_.step, loss);
  progress_.evaluations.evaluated_step = progress_.step;
  if (std::isfinite(loss) && (plan_.keep_best > 0 || plan_.patience > 0)) {
    among_best_ = add(progress_.evaluations, {progress_.step, loss}, plan_.keep_best);
  }
  return {};
}

bool TrainingLoop::out_of_patience() const {
  return plan_.patience > 0 && progress_.evaluations.since_best >= plan_.patience;
}

Status TrainingLoop::save_if_due() {
  (void)note(ports_.checkpoints.take());
  const bool asked = ports_.requests.take_save_request();
  const bool best = among_best_ && plan_.keep_best > 0 && progress_.step < plan_.steps;
  // These weights are gone after the next step: what is running is waited for.
  if (best && ports_.checkpoints.pending()) (void)note(ports_.checkpoints.wait());
  const bool due = asked || best || time_to_save();
  if (!due && !save_owed_) return {};
  if (const auto running = ports_.checkpoints.pending()) {
    if (due && !save_owed_) {
      ports_.reporter.status(
          fmt::format("step {}: the next save waits, that of step {} is still running",
                      progress_.step, *running));
    }
    save_owed_ = true;
    return {};
  }
  return begin_save();
}

// The phase lasts as long as the training waits. Error: there is nothing worth saving.
Status TrainingLoop::begin_save() {
  save_owed_ = false;
  ports_.reporter.phase("save");
  if (ports_.replicas != nullptr) {
    if (auto ok = ports_.replicas->before_save(progress_.step); !ok) return ok;
  }
  if (auto begun = ports_.checkpoints.begin(progress_); !begun) {
    (void)note(CheckpointPort::Outcome{progress_.step, propagate(begun), 0});
  }
  (void)note(ports_.checkpoints.take());  // there already when the training has waited for it
  ports_.reporter.phase("train");
  return {};
}

// Until the step that was reached is on disk.
Status TrainingLoop::finish_saving() {
  ports_.reporter.phase("save");
  (void)note(ports_.checkpoints.wait());
  Status last;
  if (saved_step_ != progress_.step) {
    if (ports_.replicas != nullptr) last = ports_.replicas->before_save(progress_.step);
    if (last) last = ports_.checkpoints.begin(progress_);
    last = note(last ? ports_.checkpoints.wait()
                     : CheckpointPort::Outcome{progress_.step, propagate(last), 0});
  }
  ports_.reporter.phase("train");
  return last;
}

void TrainingLoop::keep_best() {
  if (auto kept = ports_.checkpoints.keep(progress_.evaluations.best); !kept) {
    ports_.reporter.error(
        fmt::format("the best checkpoints are not marked: {}", kept.error().message()));
  }
}

Status TrainingLoop::note(std::optional<CheckpointPort::Outcome> outcome) {
  if (!outcome) return {};
  if (outcome->folder) {
    saved_step_ = outcome->step;
    ports_.reporter.saved(*outcome->folder, outcome->step, outcome->write_ms);
    if (plan_.keep_best > 0) keep_best();
    return {};
  }
  ports_.reporter.error(
      fmt::format("step {} is not saved: {}", outcome->step, outcome->folder.error().message()));
  return propagate(outcome->folder);
}

}  // namespace trainward::trainer
