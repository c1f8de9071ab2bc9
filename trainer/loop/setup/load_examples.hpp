// The examples of a run, as its configuration says: what is trained on and what is evaluated on.
//
// In: the configuration after choose_model(), and a folder for bad rows, empty for none: they are
// put aside in `bad-lines.jsonl`, those of the validation data in `bad-validation-lines.jsonl`.
// Out: the sources, and the configuration with the vocabulary and the digest that belong to them.
// Tells how far it is while it reads, what was left out, and what is odd. Errors: those of
// open_prompting(), read_examples() and fit_to_data(), naming the key of the configuration where
// there is one; usage, where evaluations are asked for and there is nothing to evaluate on;
// transient, when `requests` asked to stop. While resuming, what is wrong with files is permanent
// instead of usage: data that was there when the checkpoint was written may come back; a network
// folder does.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "common/base/error.hpp"
#include "trainer/data/examples/example_reader.hpp"
#include "trainer/data/examples/load_report.hpp"
#include "trainer/loop/reporting/reporter.hpp"
#include "trainer/loop/reporting/requests.hpp"
#include "trainer/loop/setup/prompting.hpp"

namespace trainward::trainer {

// Owns everything that the sources borrow, in places that do not move.
struct Examples {
  Prompting prompting;
  std::unique_ptr<const ExampleSet> training_set;
  std::unique_ptr<const ExampleSet> validation_set;  // nullptr: a share of the other, or none
  std::unique_ptr<const ExampleRows> training_rows;
  std::unique_ptr<const ExampleRows> held_out_rows;  // nullptr: nothing is held out
  std::unique_ptr<ExampleReader> training;
  std::unique_ptr<HeldOutExamples> held_out;  // nullptr: the same

  LoadReport report;                            // of `data`, with what of it is held out
  std::optional<LoadReport> validation_report;  // of `validation_data`
  std::int64_t also_trained_on = 0;  // held-out examples that, token for token, training has too
  std::string digest;                // of what is trained on

  [[nodiscard]] std::int64_t steps_per_epoch() const { return training->steps_per_epoch(); }
  // The last step of the run: `steps`, or those of `num_epochs`, whichever comes first.
  [[nodiscard]] std::int64_t steps_of(const settings::RunSettings& settings) const;
};

Result<Examples> load_examples(WorkerConfig& config, const std::filesystem::path& bad_rows,
                               bool resuming, const Requests& requests, Reporter& reporter);

// Whether the data is examples, by `data_form`; `auto`: where a base model is trained further, and
// every file that `data` names, or a file in each folder, is called *.jsonl, *.ndjson or *.json,
// packed or not. Usage: a table of text (CSV), which would be taken for a text; not while resuming,
// since a run that started this way continues this way.
Result<bool> data_is_examples(const WorkerConfig& config, bool resuming = false);

}  // namespace trainward::trainer
