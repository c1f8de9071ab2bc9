// How far a run is, and that as part of a checkpoint.
//
// Together with the tensors this is all a resumed run needs to continue bit for bit; initial
// values, block order and rates are functions of the configuration.
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/checkpoint.hpp"
#include "common/base/error.hpp"
#include "trainer/batch/batch_source.hpp"
#include "trainer/loop/reporting/evaluations.hpp"
#include "trainer/model/edition.hpp"

namespace trainward::trainer {

struct Progress {
  std::int64_t step = 0;    // optimizer steps done since the run began
  std::int64_t tokens = 0;  // tokens seen since the run began
  double loss = 0;          // of the last step
  Cursor cursor;            // the next row of data
  Evaluations evaluations;  // of data that is not trained on

  friend bool operator==(const Progress&, const Progress&) = default;
};

// What does not change during an attempt and is written into each of its checkpoints.
struct RunFacts {
  std::string run;
  std::string config_digest;
  std::string corpus_digest;
  std::string parent;  // the checkpoint resumed from, by folder name; empty for a fresh start
  int threads = 1;
  int edition = current_edition;  // that the run began under
  std::string configuration;      // that the digest is of (setup/run_digest.hpp)
  json::object model;             // Architecture::facts()
};

// RunFacts::configuration in a checkpoint's `extra`; those of older versions have none.
inline constexpr std::string_view configuration_key = "configuration";

checkpoint::TrainingState to_state(const Progress& progress, const RunFacts& facts);

// What of `extra` is not the trainer's own, to be carried along.
json::object foreign_keys(const checkpoint::TrainingState& state);

// Kind corrupt when something the trainer wrote is missing or does not fit together.
Result<Progress> progress_of(const checkpoint::TrainingState& state);

}  // namespace trainward::trainer
