#include "trainer/loop/worker_config.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "common/digest.hpp"
#include "common/json.hpp"
#include "common/strict_object.hpp"
#include "trainer/loop/presets.hpp"
#include "trainer/tokenizer/byte_tokenizer.hpp"

namespace trainward::trainer {
namespace {

constexpr std::int64_t many = 1'000'000'000'000;

void read_rates(StrictObject& keys, TrainingSpec& training) {
  keys.real("learning_rate", training.learning_rate, 0.0, 10.0);
  keys.real("head_learning_rate", training.head_learning_rate, 0.0, 10.0);
  keys.real("weight_decay", training.weight_decay, 0.0, 1.0);
  keys.real("beta1", training.beta1, 0.0, 1.0);
  keys.real("beta2", training.beta2, 0.0, 1.0);
  keys.real("epsilon", training.epsilon, 1e-30, 1.0);
  keys.real("gradient_clip", training.gradient_clip, 0.0, 1e9);
  keys.whole("warmup_steps", training.schedule.warmup_steps, 0, many);
  std::string shape = "constant";
  keys.text("schedule", shape);
  using Shape = optim::Schedule::Shape;
  if (shape == "cosine") training.schedule.shape = Shape::cosine;
  if (shape != "cosine" && shape != "constant") {
    keys.complain("schedule", fmt::format("is '{}', expected 'constant' or 'cosine'", shape));
  }
  keys.real("final_learning_rate_share", training.schedule.final_share, 0.0, 1.0);
}

void read_data(StrictObject& keys, WorkerConfig& config) {
  keys.texts("data", config.data);
  if (config.data.empty()) {
    keys.complain("data", "names no file or folder", "a list of at least one path");
  }
  std::string format = "auto";
  keys.text("data_format", format);
  if (const auto known = data_format(format)) {
    config.data_format = *known;
  } else {
    keys.complain("data_format", fmt::format("is '{}', expected auto, text, u16 or u32", format));
  }
  keys.text("tokenizer", config.tokenizer);
  if (config.tokenizer.empty()) keys.complain("tokenizer", "is empty", "byte, or a tokenizer.json");
  keys.text("end_of_text", config.end_of_text);
  keys.whole("vocabulary", config.vocabulary, 0, max_vocabulary);
}

void read_model(StrictObject& keys, WorkerConfig& config) {
  TrainingSpec& training = config.training;
  keys.text("model", config.model);
  if (auto model = preset(config.model)) {
    training.model = *model;
  } else {
    keys.complain("model", model.error().what, model.error().hint);
  }
  keys.flag("tie_weights", training.model.tied);
  keys.real("dropout", training.dropout, 0.0, 0.99);
  keys.real("label_smoothing", training.label_smoothing, 0.0, 0.99);
  keys.flag("recompute", training.recompute);
  std::string precision = "f32";
  keys.text("precision", precision);
  if (precision == "bf16") training.precision = graph::Precision::bf16;
  if (precision != "bf16" && precision != "f32") {
    keys.complain("precision", fmt::format("is '{}', expected 'f32' or 'bf16'", precision));
  }
}

Status read_training(const json::object& object, WorkerConfig& config) {
  StrictObject keys(object, "training_config");
  TrainingSpec& training = config.training;
  read_model(keys, config);
  keys.whole("steps", config.steps, 1, many);
  training.schedule.total_steps = config.steps;
  keys.whole("batch_size", training.batch_size, 1, 65'536);
  keys.whole("accumulation", training.accumulation, 1, 65'536);
  keys.whole("block_size", training.block_size, 2, 1'048'576);
  read_rates(keys, training);
  auto seed = static_cast<std::int64_t>(training.seed);
  keys.whole("seed", seed, 0, std::numeric_limits<std::int64_t>::max());
  training.seed = static_cast<std::uint64_t>(seed);
  keys.whole("evaluate_every", config.evaluate_every, 0, many);
  keys.whole("evaluation_blocks", config.evaluation_blocks, 1, 1'000'000);
  keys.whole("checkpoint_every", config.checkpoint_every, 1, many);
  keys.flag("checkpoint_async", config.checkpoint_async);
  keys.whole("checkpoint_shard_mib", config.checkpoint_shard_mib, 0, 1'048'576);
  read_data(keys, config);
  return keys.finish();
}

// As the mesh of devices is given elsewhere: [model parts, data parts].
void read_mesh(StrictObject& keys, WorkerConfig& config) {
  std::vector<std::int64_t> mesh{1, 1};
  bool parallel = false;
  keys.wholes("mesh_shape", mesh, 1, 1024);
  keys.flag("enable_ddp", parallel);
  if (mesh.size() != 2 || mesh[0] != 1) {
    keys.complain("mesh_shape", fmt::format("is [{}]", fmt::join(mesh, ", ")),
                  "[1, N]: N processes share each batch; the model itself is not split");
  } else if (mesh[1] > 1 && !parallel) {
    keys.complain("enable_ddp", "is false, and mesh_shape asks for more than one process",
                  "set enable_ddp: true");
  } else {
    config.ranks = mesh[1];
  }
}

std::optional<pjrt::OptionValue> option_value(const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_bool()) return value.get_bool();
  if (value.is_int64()) return value.get_int64();
  if (value.is_double()) return static_cast<float>(value.get_double());
  if (!value.is_array()) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const json::value& item : value.get_array()) {
    if (!item.is_int64()) return std::nullopt;
    numbers.push_back(item.get_int64());
  }
  return numbers;
}

void read_options(StrictObject& keys, WorkerConfig& config) {
  const json::object* options = keys.object("options");
  if (options == nullptr) return;
  for (const auto& [name, value] : *options) {
    if (auto known = option_value(value)) {
      config.options.push_back({std::string(name), std::move(*known)});
    } else {
      keys.complain("options",
                    fmt::format("'{}' is not a text, number, true, false or list of whole numbers",
                                std::string(name)));
    }
  }
}

void read_plugin(StrictObject& keys, WorkerConfig& config) {
  keys.text("plugin", config.plugin);
  if (!config.plugin.empty()) config.device = plugin_device;
  keys.text("device", config.device);
  if (config.device != cpu_device && config.device != plugin_device) {
    keys.complain("device", fmt::format("is '{}', expected 'cpu' or 'pjrt'", config.device));
  } else if (config.device == plugin_device && config.plugin.empty()) {
    keys.complain("plugin", "is missing", "the PJRT plugin of the device, or 'sim_n300'");
  }
  read_options(keys, config);
  std::string placement = "host";
  keys.text("placement", placement);
  if (placement == "device") config.placement = Placement::device;
  if (placement != "device" && placement != "host") {
    keys.complain("placement", fmt::format("is '{}', expected 'host' or 'device'", placement));
  }
  std::string attention = "auto";
  keys.text("attention", attention);
  if (attention == "plain") config.attention = AttentionUse::plain;
  if (attention == "fused") config.attention = AttentionUse::fused;
  if (attention != "auto" && !config.attention) {
    keys.complain("attention",
                  fmt::format("is '{}', expected 'auto', 'plain' or 'fused'", attention));
  }
  keys.bytes("cache_limit", config.cache_limit);
}

Status read_device(const json::object& object, WorkerConfig& config) {
  StrictObject keys(object, "device_config");
  read_plugin(keys, config);
  std::int64_t threads = config.training.threads;
  keys.whole("threads", threads, 1, 1024);
  config.training.threads = static_cast<int>(threads);
  read_mesh(keys, config);
  return keys.finish();
}

Status read_logging(const json::object& object, WorkerConfig& config) {
  StrictObject keys(object, "logging_config");
  keys.whole("log_every", config.log_every, 1, many);
  return keys.finish();
}

// What came later changes the digest only where it is used, so that older checkpoints still fit.
std::string later_settings(const TrainingSpec& t) {
  std::string text;
  if (t.model.tied) text += "tied\n";
  if (t.accumulation != 1) text += fmt::format("accumulation {}\n", t.accumulation);
  if (t.dropout != 0) text += fmt::format("dropout {}\n", t.dropout);
  if (t.label_smoothing != 0) text += fmt::format("smoothing {}\n", t.label_smoothing);
  if (t.recompute) text += "recompute\n";
  if (t.precision == graph::Precision::bf16) text += "bf16\n";
  if (t.schedule.shape == optim::Schedule::Shape::cosine) {
    text +=
        fmt::format("cosine over {} steps to {}\n", t.schedule.total_steps, t.schedule.final_share);
  }
  return text;
}

// One line a value: a list of paths cannot be mistaken for another.
std::string digest_of(const WorkerConfig& config, const std::string& tokenizer_digest) {
  const TrainingSpec& t = config.training;
  std::string text = fmt::format(
      "trainward weights 1\nmodel {} {} {} {} {}\nbatch {}\nblock {}\nrate {}\nhead rate {}\n"
      "decay {}\nbeta1 {}\nbeta2 {}\nepsilon {}\nclip {}\nwarm-up {}\nseed {}\nthreads {}\n",
      t.model.width, t.model.layers, t.model.heads, t.model.rank, t.model.vocabulary, t.batch_size,
      t.block_size, t.learning_rate, t.head_learning_rate, t.weight_decay, t.beta1, t.beta2,
      t.epsilon, t.gradient_clip, t.schedule.warmup_steps, t.seed, t.threads);
  text += later_settings(t);
  if (config.held_out() > 0) text += fmt::format("held out {}\n", config.held_out());
  for (const std::string& path : config.data) {
    text += fmt::format("data {} {}\n", path.size(), path);
  }
  // Runs on bytes keep the digest that they had before there was anything else.
  // `text` is what every run was before JSONL was known; what it changes shows in the data's
  // digest.
  if (config.data_format == DataFormat::u16 || config.data_format == DataFormat::u32) {
    text += fmt::format("format {}\n", static_cast<int>(config.data_format));
  }
  if (tokenizer_digest != ByteTokenizer().digest()) {
    text += fmt::format("tokenizer {}\n", tokenizer_digest);
  }
  return sha256_hex(text);
}

}  // namespace

Result<WorkerConfig> read_worker_config(const json::object& object) {
  WorkerConfig config;
  StrictObject keys(object, "");
  const json::object* training = keys.object("training_config");
  const json::object* device = keys.object("device_config");
  const json::object* logging = keys.object("logging_config");
  if (training == nullptr) {
    keys.complain("training_config", "is missing", "it holds model, steps and data");
  }
  if (auto ok = keys.finish(); !ok) return propagate(ok);
  if (auto ok = read_training(*training, config); !ok) return propagate(ok);
  if (device != nullptr) {
    if (auto ok = read_device(*device, config); !ok) return propagate(ok);
  }
  if (logging != nullptr) {
    if (auto ok = read_logging(*logging, config); !ok) return propagate(ok);
  }
  config.digest = digest_of(config, ByteTokenizer().digest());
  return config;
}

Result<WorkerConfig> load_worker_config(const std::string& file) {
  constexpr std::size_t max_bytes = std::size_t{1} << 20;
  auto parsed = read_json_file(file, max_bytes);
  if (!parsed) return propagate(parsed);
  if (!parsed->is_object()) return fail(ErrorKind::usage, "is not a JSON object", file);
  auto config = read_worker_config(parsed->get_object());
  if (!config) config.error().where = fmt::format("{}: {}", file, config.error().where);
  return config;
}

Status fit_to_data(WorkerConfig& config, std::int64_t vocabulary,
                   const std::string& tokenizer_digest) {
  if (config.vocabulary > 0 && config.vocabulary < vocabulary) {
    return fail(ErrorKind::usage,
                fmt::format("is {}, and the tokenizer of the data has {} ids", config.vocabulary,
                            vocabulary),
                "training_config.vocabulary",
                fmt::format("make it {} or more, or leave it out", vocabulary));
  }
  config.training.model.vocabulary = std::max(config.vocabulary, vocabulary);
  config.digest = digest_of(config, tokenizer_digest);
  return {};
}

}  // namespace trainward::trainer
