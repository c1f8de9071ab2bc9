// The trainer's configuration as JSON: the supervisor writes it, with every key present, from the
// YAML file (where defaults, types and ranges are checked and reported with line and column); the
// worker reads it back here and checks it again, since it may be started by hand. Absent keys keep
// the defaults below; `data` has none. Errors are of kind usage and name the key by its path.
//
// {"training_config": {"model": "micro_3x", "steps": 300, "batch_size": 8, "block_size": 128,
//                      "learning_rate": 0.003, "head_learning_rate": 0.003, "weight_decay": 0.01,
//                      "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "gradient_clip": 1.0,
//                      "warmup_steps": 0, "schedule": "constant",
//                      "final_learning_rate_share": 0.1, "accumulation": 1, "dropout": 0.0,
//                      "label_smoothing": 0.0, "tie_weights": false, "recompute": false,
//                      "precision": "f32", "seed": 1234, "checkpoint_every": 10,
//                      "checkpoint_async": true, "checkpoint_shard_mib": 0,
//                      "data": ["/usr/share/common-licenses"], "data_format": "auto",
//                      "tokenizer": "byte", "end_of_text": "", "vocabulary": 0},
//  "device_config": {"device": "cpu", "threads": 2, "mesh_shape": [1, 1], "enable_ddp": false,
//                    "plugin": "", "options": {}, "placement": "host",
//                    "attention": "auto", "cache_limit": 8589934592},
//  "logging_config": {"log_every": 1}}
//
// With a plugin the device is "pjrt" unless it says "cpu", and mesh_shape counts the plugin's
// devices, not processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"
#include "common/programs/program_cache.hpp"
#include "trainer/data/data_files.hpp"
#include "trainer/device/modules.hpp"
#include "trainer/model/model_spec.hpp"
#include "trainer/pjrt/client.hpp"

namespace trainward::trainer {

inline constexpr std::string_view cpu_device = "cpu";
inline constexpr std::string_view plugin_device = "pjrt";
// The plugin of this project, beside the worker.
inline constexpr std::string_view simulated_n300 = "sim_n300";

struct WorkerConfig {
  std::string model = "micro_3x";       // a preset (presets.hpp)
  TrainingSpec training;                // sizes, rates, precision (as asked for), seed, threads
  std::int64_t steps = 300;             // optimizer steps of the whole run
  std::int64_t evaluate_every = 0;      // steps; 0: never, and nothing is held out
  std::int64_t evaluation_blocks = 32;  // at the end of the data, not trained on
  std::int64_t checkpoint_every = 10;
  bool checkpoint_async = true;           // written while the training goes on
  std::int64_t checkpoint_shard_mib = 0;  // largest size of a tensor file; 0: no limit
  std::vector<std::string> data;          // files and folders
  DataFormat data_format = DataFormat::automatic;
  std::string tokenizer = "byte";  // or the path of a tokenizer.json
  std::string end_of_text;         // the token that ends a document; empty: found out
  std::int64_t vocabulary = 0;     // of the model; 0: as many as the data needs
  std::string device{cpu_device};
  std::string plugin;                       // a library, or simulated_n300
  std::vector<pjrt::ClientOption> options;  // for the plugin
  Placement placement = Placement::host;    // of embedding and head, with a plugin
  std::optional<AttentionUse> attention;    // none: as the device's platform asks for
  std::uint64_t cache_limit = ProgramCache::default_limit_bytes;  // of compiled programs
  std::int64_t ranks = 1;      // processes or devices that share each step (mesh_shape [1, ranks])
  std::int64_t log_every = 1;  // a log line on stdout every so many steps

  // SHA-256 over the parts that decide the weights after a given step: model, batch, block, rates
  // and how they change, dropout, smoothing, precision, seed, threads, data paths and format,
  // vocabulary, and the tokenizer (what it does, not where it lies); the number of steps only where
  // the rates depend on it; not how often is saved or logged, nor which device does the work or how
  // many ranks share it: they may differ in rounding. A checkpoint may only be resumed under the
  // digest it was written with. Before fit_to_data() it is that of bytes.
  std::string digest;

  [[nodiscard]] std::int64_t tokens_per_step() const {
    return training.sequences_per_step() * training.block_size;
  }
  [[nodiscard]] std::int64_t held_out() const { return evaluate_every > 0 ? evaluation_blocks : 0; }
};

Result<WorkerConfig> read_worker_config(const json::object& config);
// From a file of at most 1 MiB; errors name it.
Result<WorkerConfig> load_worker_config(const std::string& file);

// Gives the model its vocabulary and the configuration its digest, from what the data turned out to
// be. Kind usage, when the configuration asks for fewer ids than the data has.
Status fit_to_data(WorkerConfig& config, std::int64_t vocabulary,
                   const std::string& tokenizer_digest);

}  // namespace trainward::trainer
