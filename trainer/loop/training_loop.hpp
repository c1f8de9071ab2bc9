// The training loop: batches in, steps, checkpoints and reports out.
//
//   for each step:  stop asked for? -> save, end
//                   step            -> not a number: end without saving it
//                   report; evaluate when it is time, and let it speak; save when it is time, when
//                   asked to, when it was one of the best, and after the last step
//
// A stop does not wait for an evaluation or for what is being said: the step is saved without them,
// the run is not done, even after its last step, and a resumed run does them first. So the
// evaluations, the best of them and the end are those of a run that was never stopped.
//
// After each step the state is left in memory where that is due, and what devices or ranks hold was
// found alike.
//
// Saving runs beside the training. A save that is due while another is running is told and begun
// when that has ended; no run ends before the one that is running has. A save that fails costs that
// checkpoint, not the run; only the last one is an error. Errors of the model are passed on.
//
// Everything the loop touches is given and outlives it; the clock and the saving are ports, so a
// test runs it without files or time. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

#include "common/base/error.hpp"
#include "trainer/batch/batch_source.hpp"
#include "trainer/loop/checkpoints/checkpoint_port.hpp"
#include "trainer/loop/replicas.hpp"
#include "trainer/loop/reporting/device_meter.hpp"
#include "trainer/loop/reporting/reporter.hpp"
#include "trainer/loop/reporting/requests.hpp"
#include "trainer/loop/reporting/training_progress.hpp"
#include "trainer/model/training/trainable.hpp"

namespace trainward::trainer {

// Tokens and steps per second over the last steps.
//
// Only time inside steps counts, so saving does not look like a slow device. Sixteen steps, because
// the clock ticks in milliseconds and a small model's step is a few of them.
class RateMeter {
 public:
  void add(std::int64_t tokens, std::int64_t ms) { steps_[next_++ % steps_.size()] = {tokens, ms}; }
  [[nodiscard]] double tokens_per_second() const {
    std::int64_t tokens = 0;
    for (const Step& step : steps_) tokens += step.tokens;
    return static_cast<double>(tokens) / seconds();
  }
  [[nodiscard]] double steps_per_second() const {
    return static_cast<double>(std::min(next_, steps_.size())) / seconds();
  }

 private:
  [[nodiscard]] double seconds() const {
    std::int64_t ms = 0;
    for (const Step& step : steps_) ms += step.ms;
    return static_cast<double>(ms > 0 ? ms : 1) / 1000.0;
  }

  struct Step {
    std::int64_t tokens = 0;
    std::int64_t ms = 0;
  };
  std::array<Step, 16> steps_{};
  std::size_t next_ = 0;
};

struct LoopPlan {
  std::int64_t steps = 0;             // of the whole run, not of this attempt
  std::int64_t checkpoint_every = 1;  // counted from step 0, so that attempts save the same steps
  std::int64_t log_every = 1;
  std::int64_t evaluate_every = 0;  // 0: never; likewise counted from step 0
  std::int64_t sample_every = 0;    // 0: as often as it is evaluated, or where it is not, saved
  bool evaluate_first = false;      // also before the first step of the run; samples likewise
  std::int64_t keep_best = 0;       // checkpoints of the lowest evaluation loss that stay
  std::int64_t patience = 0;        // evaluations without a lower one that end the run; 0: none
  // What a step needs of floating-point operations, as a share of what everything that takes part
  // in it can do in a second; nothing: one of the two is not known.
  std::optional<double> peak_seconds = {};
  bool begins_on_disk = true;  // what it begins with; else that is still to be saved
};

enum class Ending {
  finished,      // all steps done and saved
  stopped,       // asked to; what was done is saved
  not_a_number,  // the loss or the gradient
};

// What the model says to a few prompts, to be looked at.
class Samples {
 public:
  Samples() = default;
  Samples(const Samples&) = delete;
  Samples& operator=(const Samples&) = delete;
  Samples(Samples&&) = delete;
  Samples& operator=(Samples&&) = delete;
  virtual ~Samples() = default;

  // Of the model as it is after step `step`; tells them. False where a stop that is asked for has
  // cut them short. An error costs the samples, not the run.
  virtual Result<bool> speak(std::int64_t step) = 0;
};

struct LoopPorts {
  Reporter& reporter;
  Requests& requests;
  CheckpointPort& checkpoints;
  HeldOutSource* held_out;         // nullptr: nothing to evaluate on
  Samples* samples = nullptr;      // nullptr: no samples
  Replicas* replicas = nullptr;    // nullptr: there is one copy of the parameters
  DeviceMeter* devices = nullptr;  // nullptr: there is one device, and nobody to compare it with
};

class TrainingLoop {
 public:
  TrainingLoop(LoopPlan plan, Trainable& model, BatchSource& data, Progress start, LoopPorts ports)
      : plan_(plan),
        model_(model),
        data_(data),
        progress_(std::move(start)),
        saved_step_(plan.begins_on_disk ? progress_.step : -1),
        ports_(ports) {}

  Result<Ending> run();

  [[nodiscard]] const Progress& progress() const { return progress_; }

 private:
  enum class StepEnd { done, not_a_number };
  Result<StepEnd> one_step();
  struct StepTimes {
    std::int64_t step_ms = 0;
    double input_wait_ms = 0;
  };
  [[nodiscard]] StepFigures figures_of(const StepResult& result, StepTimes took) const;
  Status look_now();
  Status tell_devices(std::int64_t tokens, std::chrono::nanoseconds input_wait);
  void tell_not_a_number(const StepResult& result);
  Result<Ending> train();
  [[nodiscard]] bool is_time(std::int64_t every) const;
  [[nodiscard]] bool owes_evaluation() const;
  [[nodiscard]] bool owes_samples() const;
  Status look();
  Status evaluate();
  void speak();
  Result<Ending> stop();
  Status note_evaluation(double loss);
  [[nodiscard]] bool out_of_patience() const;
  Result<Ending> end_early();
  void keep_best();
  Status save_if_due();
  Status begin_save();
  Status finish_saving();
  Status note(std::optional<CheckpointPort::Outcome> outcome);
  [[nodiscard]] bool time_to_save() const;
  void remember();

  LoopPlan plan_;
  Trainable& model_;
  BatchSource& data_;
  Progress progress_;
  std::int64_t saved_step_;  // newest step that is on disk, or was there at the start
  bool save_owed_ = false;   // was due while another was running
  bool among_best_ = false;  // the step that was reached
  RateMeter rate_;
  std::chrono::nanoseconds took_{};  // the step that was done
  LoopPorts ports_;
};

}  // namespace trainward::trainer
