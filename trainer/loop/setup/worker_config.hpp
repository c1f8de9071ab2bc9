// The trainer's configuration as JSON: the supervisor writes it, with every key present, from the
// YAML file (where what is wrong is reported with line and column); the worker reads it back here
// and checks it again by the same table (common/settings/worker_settings.hpp), since it may be
// started by hand. Absent keys have the table's defaults; `data` has none. Errors are of kind usage
// and name the key by its path.
//
// {"training_config": {"model": "micro_3x", "steps": 300, "data": ["/usr/share/common-licenses"],
// …},
//  "device_config": {"device": "cpu", "threads": 2, "mesh_shape": [1, 1], …},
//  "logging_config": {"log_every": 1}}
//
// With a plugin the device is "pjrt" unless it says "cpu", and mesh_shape counts the plugin's
// devices, not processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "common/settings/worker_settings.hpp"
#include "trainer/data/data_files.hpp"
#include "trainer/device/modules.hpp"
#include "trainer/model/edition.hpp"
#include "trainer/model/model_spec.hpp"
#include "trainer/pjrt/pjrt_client.hpp"

namespace trainward::trainer {

inline constexpr std::string_view cpu_device = "cpu";
inline constexpr std::string_view plugin_device = "pjrt";
// The plugin of this project, beside the worker.

struct WorkerConfig : settings::RunSettings {
  TrainingSpec training;  // precision as asked for
  // Before a plan cut the work otherwise: what the digest covers, so the run can resume.
  std::optional<TrainingSpec> configured;
  int edition = current_edition;  // of what settings mean; a run keeps its own
  DataFormat data_format = DataFormat::automatic;
  std::vector<pjrt::ClientOption> options;  // for the plugin
  Placement placement = Placement::host;    // of embedding and head, with a plugin
  std::optional<AttentionUse> attention;    // none: as the device's platform asks for

  // Of the model that was chosen (choose_model.hpp), where it is no named size.
  std::string base_digest;            // of the files it begins from
  std::int64_t model_vocabulary = 0;  // as its config.json says; 0: as the data asks for

  // SHA-256 over the parts that decide the weights after a given step: model, batch, block, rates
  // and how they change, dropout, smoothing, precision, seed, threads, data paths and format,
  // vocabulary, and the tokenizer (what it does, not where it lies); of fine-tuning adapters, form
  // and length of examples, what of them is a target and what is held back; the number of steps
  // only where the rates depend on it; not how often is saved or logged, nor which device does the
  // work or how many ranks share it: they may differ in rounding. A checkpoint may only be resumed
  // under the digest it was written with. Before fit_to_data() it is that of bytes.
  std::string digest;

  [[nodiscard]] std::int64_t held_out() const { return evaluate_every > 0 ? evaluation_blocks : 0; }
};

Result<WorkerConfig> read_worker_config(const json::object& config);
// From a file of at most 1 MiB, a pipe, or "-", which is standard input; errors name it.
Result<WorkerConfig> load_worker_config(const std::string& file);

// For a run that began under this edition; before its data is read.
void keep_edition(WorkerConfig& config, int edition);

// Of the configuration as it is now, with what made its tokens.
std::string run_digest(const WorkerConfig& config, const std::string& tokenizer_digest);

// Gives the model its vocabulary and the configuration its digest, from what the data turned out to
// be. Kind usage, when the configuration asks for fewer ids than the data has.
Status fit_to_data(WorkerConfig& config, std::int64_t vocabulary,
                   const std::string& tokenizer_digest);

}  // namespace trainward::trainer
