// The trainer's configuration as JSON, with every key present: the supervisor writes it from the
// YAML file (where defaults, types and ranges are checked and reported with line and column); the
// worker reads it back here and checks it again, since it may be started by hand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"

namespace trainward::trainer {

struct ModelShape {
  std::int64_t width = 128;
  std::int64_t layers = 4;
  std::int64_t heads = 8;
  std::int64_t rank = 48;
  std::int64_t vocabulary = 257;  // byte-level: 256 bytes + end of text (id 256)
  [[nodiscard]] std::int64_t padded_vocabulary() const { return (vocabulary + 31) / 32 * 32; }
  [[nodiscard]] std::int64_t head_width() const { return width / heads; }
};

// Presets of AGILLM-3: femto_1x pico_3x nano_1x nano_3x micro_3x small smallx2 base base18 large, and the family
// NAME_kx (facts: rank = k * head width). Kind usage, with the nearest name, when unknown.
Result<ModelShape> preset(std::string_view name);

// {"training_config": {"model": "micro_3x", "steps": 300, "batch_size": 8, "block_size": 128,
//                      "learning_rate": 0.003, "head_learning_rate": 0.003, "weight_decay": 0.01,
//                      "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "gradient_clip": 1.0,
//                      "seed": 1234, "checkpoint_every": 10, "data": ["/usr/share/common-licenses"]},
//  "device_config": {"device": "cpu", "threads": 2},
//  "logging_config": {"log_every": 1}}
struct WorkerConfig {
  std::string model = "micro_3x";
  ModelShape shape;
  std::int64_t steps = 300;
  std::int64_t batch_size = 8;
  std::int64_t block_size = 128;
  double learning_rate = 3e-3;
  double head_learning_rate = 3e-3;
  double weight_decay = 0.01;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double gradient_clip = 1.0;
  std::uint64_t seed = 1234;
  std::int64_t checkpoint_every = 10;
  std::vector<std::string> data;
  std::string device = "cpu";
  int threads = 2;                 // fixed by the configuration: results depend on it
  std::int64_t log_every = 1;      // a log line on stdout every so many steps
  std::string digest;              // SHA-256 of the parts that decide the weights
};

Result<WorkerConfig> read_worker_config(const json::object& config);

}  // namespace trainward::trainer
