// The worker from its arguments to its exit code: load, compile, train.
//
// In: the command line and the environment as values, and the outside world as ports. Out: an exit
// code of common/protocol/protocol.hpp; every error is one line on stderr: 78 for what only a
// person can change (configuration, a checkpoint of another configuration), 75 when it was asked to
// stop, 1 for everything else.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/error.hpp"
#include "trainer/loop/reporting/reporter.hpp"
#include "trainer/loop/reporting/requests.hpp"
#include "trainer/loop/setup/environment.hpp"
#include "trainer/loop/setup/worker_config.hpp"
#include "trainer/model/training/base_weights.hpp"
#include "trainer/model/training/trainable.hpp"

namespace trainward::trainer {

// Arguments win over the environment.
struct WorkerOptions {
  std::string config_file;
  std::optional<std::string> checkpoint_dir;  // without either: "checkpoints"
  std::optional<std::string> resume;          // a checkpoint folder, or "auto" for the newest
};

// For the work of this attempt, which may not be quite what the configuration says.
// `base`: the weights it begins with, which outlive it; nullptr: none.
using MakeModel = std::function<Result<std::unique_ptr<Trainable>>(
    const WorkerConfig& config, const WorkerEnvironment& environment, const BaseWeights* base,
    Reporter& reporter)>;

struct WorkerPorts {
  Sinks sinks;
  Requests& requests;
  MakeModel make_model;
  // Whether this machine multiplies bf16 faster than f32 in products of that size; asked when a new
  // run's configuration wants bf16.
  std::function<bool(const TrainingSpec&)> bf16_is_fast;
  // Of a worker that was started before it is needed: called once all is ready that needs neither
  // board nor checkpoint; gives the environment that it has then, or nothing: it is not needed.
  // Null: it begins at once.
  std::function<std::optional<WorkerEnvironment>()> wait_to_begin = {};
};

int run_worker(const WorkerOptions& options, WorkerEnvironment environment,
               const WorkerPorts& ports);

}  // namespace trainward::trainer
