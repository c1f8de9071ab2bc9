// The settings of our own worker: the values with their defaults, and the one table of what may be
// said about them. The supervisor reads YAML by it (supervisor/config/), the worker the JSON made
// of that (trainer/loop/setup/worker_config.hpp), and docs/config.md is tested against it.
//
// A new setting is a member and a row here, and the place that uses the value.
#pragma once

#include <array>
#include <map>

#include "common/settings/model_presets.hpp"
#include "common/settings/setting.hpp"

namespace trainward::settings {

// What the model's step needs to know; plain values, which ranks send to each other.
struct StepSettings {
  std::int64_t batch_size = 8;
  std::int64_t block_size = 128;
  double learning_rate = 3e-3;
  double head_learning_rate = 3e-3;
  double weight_decay = 0.01;  // decoupled, on every parameter
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double gradient_clip = 1.0;  // global L2 norm
  std::int64_t accumulation = 1;
  double dropout = 0;
  double label_smoothing = 0;
  bool recompute = false;
  std::uint64_t seed = 1234;   // decides every initial value
  int threads = 2;             // results are equal bit for bit only for equal thread counts
  std::int64_t lora_rank = 0;  // of the adapters that alone are trained; 0: everything is trained
  double lora_alpha = 8;
  double lora_dropout = 0;
  bool lora_rank_stabilised = false;  // scaled by alpha / sqrt(rank) instead of alpha / rank
};

// What the worker around it needs to know.
struct RunSettings {
  std::string model = "micro_3x";
  std::int64_t steps = 300;
  std::int64_t evaluate_every = 0;
  std::int64_t evaluation_blocks = 32;
  std::int64_t checkpoint_every = 10;
  bool checkpoint_async = true;
  std::int64_t checkpoint_shard_mib = 0;
  std::vector<std::string> data;
  std::string tokenizer = "byte";
  std::string end_of_text;
  std::int64_t vocabulary = 0;
  std::string device = "cpu";
  std::int64_t ranks = 1;  // processes or devices that share each step (mesh_shape)
  std::string plugin;
  std::uint64_t cache_limit = std::uint64_t{8} << 30U;
  std::int64_t log_every = 1;

  // Fine-tuning.
  std::string base_model;  // a Hugging Face folder; empty: from scratch
  std::vector<std::string> lora_targets{"q_proj", "v_proj"};  // or the one word "all-linear"
  std::string data_form = "auto";              // a stream of tokens, or examples with answers
  std::string prompt_format = "auto";          // how an example becomes text
  std::map<std::string, std::string> columns;  // our name of a row's member to the data's own
  bool train_on_prompts = false;               // else only on answers
  bool packing = false;                        // several short examples in a row
  std::string too_long = "keep_start";
  std::vector<std::string> validation_data;
  double validation_share = 0;             // of the examples, where no validation_data is named
  std::int64_t num_epochs = 0;             // 0: as many as the steps need
  std::int64_t evaluation_batch_size = 0;  // 0: batch_size
  std::int64_t keep_best = 0;  // checkpoints of the lowest evaluation loss that are kept
  std::int64_t patience = 0;   // evaluations without a lower loss that end the run; 0: none
  std::vector<std::string> sample_prompts;
  std::int64_t sample_tokens = 128;
  double sample_temperature = 0;
  std::int64_t sample_top_k = 0;
  double sample_top_p = 1;
  double sample_repetition_penalty = 1;
};

struct WorkerSettings : StepSettings, RunSettings {
  // The trainer has types of its own for these.
  std::int64_t warmup_steps = 0;
  std::int64_t hold_steps = 0;  // between warm-up and decay
  std::string schedule = "constant";
  double final_learning_rate_share = 0.1;
  bool tie_weights = false;
  std::string precision = "f32";
  std::string data_format = "auto";
  bool enable_ddp = false;
  std::string placement = "host";
  std::string attention = "auto";
};

inline constexpr std::string_view training = "training_config";
inline constexpr std::string_view device = "device_config";
inline constexpr std::string_view logging = "logging_config";
inline constexpr std::array sections{training, device, logging};

namespace words {
inline constexpr std::array<std::string_view, 3> schedules{"constant", "cosine", "linear"};
inline constexpr std::array<std::string_view, 2> precisions{"f32", "bf16"};
inline constexpr std::array<std::string_view, 4> data_formats{"auto", "text", "u16", "u32"};
inline constexpr std::array<std::string_view, 2> devices{"cpu", "pjrt"};
inline constexpr std::array<std::string_view, 2> placements{"host", "device"};
inline constexpr std::array<std::string_view, 3> attentions{"auto", "plain", "fused"};
}  // namespace words

namespace ranges {
inline constexpr std::int64_t billion = 1'000'000'000;
inline constexpr IntegerRange steps{1, billion};
inline constexpr IntegerRange steps_or_none{0, billion};
inline constexpr IntegerRange many{1, 65'536};
inline constexpr IntegerRange mebibytes{0, 1'048'576};
inline constexpr NumberRange rate{.min = 0, .max = 10, .above_min = true};
// A share of 1 would leave nothing: of the gradient, of the activations, of the target.
inline constexpr NumberRange share_below_one{.min = 0, .max = 1, .below_max = true};
inline constexpr NumberRange share{.min = 0, .max = 1};
}  // namespace ranges

using W = WorkerSettings;
inline constexpr std::array worker_settings{
    Setting{training, "model", Word{&W::model, model_names}, "", Digest::composed, "",
            "size of the model"},
    Setting{training, "steps", Whole{&W::steps, ranges::steps}, "steps", Digest::composed, "",
            "the run is done after this step"},
    Setting{training, "batch_size", Whole{&W::batch_size, ranges::many}, "sequences",
            Digest::always, "batch", "sequences computed at a time"},
    Setting{training, "block_size", Whole{&W::block_size, {2, 1'048'576}}, "tokens", Digest::always,
            "block", "tokens in a sequence"},
    Setting{training, "learning_rate", Real{&W::learning_rate, ranges::rate}, "", Digest::always,
            "rate", "of the blocks"},
    Setting{training, "head_learning_rate", Real{&W::head_learning_rate, ranges::rate}, "",
            Digest::always, "head rate", "of the output head"},
    Setting{training, "weight_decay", Real{&W::weight_decay, ranges::share}, "", Digest::always,
            "decay", "AdamW"},
    Setting{training, "beta1", Real{&W::beta1, ranges::share_below_one}, "", Digest::always,
            "beta1", "AdamW"},
    Setting{training, "beta2", Real{&W::beta2, ranges::share_below_one}, "", Digest::always,
            "beta2", "AdamW"},
    Setting{training, "epsilon", Real{&W::epsilon, {.min = 1e-30, .max = 1}}, "", Digest::always,
            "epsilon", "AdamW"},
    Setting{training, "gradient_clip", Real{&W::gradient_clip, {.min = 0, .max = 1e9}}, "",
            Digest::always, "clip", "largest norm of the gradient; 0: no limit"},
    Setting{training, "warmup_steps", Whole{&W::warmup_steps, ranges::steps_or_none}, "steps",
            Digest::always, "warm-up", "steps over which the learning rate rises"},
    Setting{training, "schedule", Word{&W::schedule, words::schedules}, "", Digest::composed, "",
            "of both learning rates, after the warm-up"},
    Setting{training, "final_learning_rate_share",
            Real{&W::final_learning_rate_share, ranges::share}, "", Digest::composed, "",
            "where `cosine` ends"},
    Setting{training, "tie_weights", Flag{&W::tie_weights}, "", Digest::when_set, "tied",
            "the output head uses the embedding's weights and has no bias"},
    Setting{training, "accumulation", Whole{&W::accumulation, ranges::many}, "batches",
            Digest::when_set, "accumulation",
            "batches whose gradients are added up before the weights change"},
    Setting{training, "dropout", Real{&W::dropout, ranges::share_below_one}, "", Digest::when_set,
            "dropout", "share of the attention's results that is left out in training"},
    Setting{training, "label_smoothing", Real{&W::label_smoothing, ranges::share_below_one}, "",
            Digest::when_set, "smoothing",
            "share of each target that is spread over the whole vocabulary"},
    Setting{training, "recompute", Flag{&W::recompute}, "", Digest::when_set, "recompute",
            "compute each block's forward again in its backward"},
    Setting{training, "precision", Word{&W::precision, words::precisions}, "", Digest::composed, "",
            "what matrix products round their operands to"},
    Setting{training, "seed", Whole{&W::seed, {}}, "", Digest::always, "seed",
            "same seed, data and settings: the same weights"},
    Setting{training, "evaluate_every", Whole{&W::evaluate_every, ranges::steps_or_none}, "steps",
            Digest::composed, "", "steps between evaluations on data that is not trained on"},
    Setting{training, "evaluation_blocks", Whole{&W::evaluation_blocks, {1, 1'000'000}}, "blocks",
            Digest::composed, "", "blocks at the end of the data that are held out for it"},
    Setting{training, "checkpoint_every", Whole{&W::checkpoint_every, ranges::steps}, "steps",
            Digest::no, "", "steps between checkpoints"},
    Setting{training, "checkpoint_async", Flag{&W::checkpoint_async}, "", Digest::no, "",
            "the training goes on while a checkpoint is written"},
    Setting{training, "checkpoint_shard_mib", Whole{&W::checkpoint_shard_mib, ranges::mebibytes},
            "MiB", Digest::no, "", "largest size of a tensor file"},
    Setting{training, "data", Paths{&W::data, "/usr/share/common-licenses"}, "", Digest::composed,
            "", "files of text, JSONL or tokens, or folders of them"},
    Setting{training, "data_format", Word{&W::data_format, words::data_formats}, "",
            Digest::composed, "", "what is in them"},
    Setting{training, "tokenizer", Path{&W::tokenizer, "byte", "a tokenizer.json"}, "",
            Digest::composed, "", "a `tokenizer.json` with byte-level BPE"},
    Setting{training, "end_of_text", Text{&W::end_of_text}, "", Digest::composed, "",
            "the added token that ends a document"},
    Setting{training, "vocabulary", Whole{&W::vocabulary, {0, 4'194'304}}, "ids", Digest::composed,
            "", "ids of the model; 0: as many as the data needs"},

    Setting{device, "device", Word{&W::device, words::devices}, "", Digest::no, "",
            "what computes"},
    Setting{device, "threads", Whole{&W::threads, {1, 1024}}, "", Digest::always, "threads",
            "fixed, because results depend on it"},
    Setting{device, "mesh_shape", Mesh{&W::ranks, 1024}, "", Digest::no, "",
            "N processes, or N devices of a plugin, share each step"},
    Setting{device, "enable_ddp", Flag{&W::enable_ddp}, "", Digest::no, "",
            "needed with N above 1"},
    Setting{device, "plugin", Path{&W::plugin, "sim_n300", "the file of a plugin"}, "", Digest::no,
            "", "a PJRT plugin, or the simulated N300 that comes with Trainward"},
    Setting{device, "options", Options{256}, "", Digest::no, "",
            "what the plugin is given when it starts"},
    Setting{device, "placement", Word{&W::placement, words::placements}, "", Digest::no, "",
            "where embedding and output head are computed"},
    Setting{device, "attention", Word{&W::attention, words::attentions}, "", Digest::no, "",
            "how attention is computed with a plugin"},
    Setting{device, "cache_limit",
            Size{&W::cache_limit, {std::int64_t{1} << 20, std::int64_t{1} << 50}}, "", Digest::no,
            "", "of the compiled programs that are kept"},

    Setting{logging, "log_every", Whole{&W::log_every, ranges::steps}, "steps", Digest::no, "",
            "steps between lines of the worker's log"},
};

}  // namespace trainward::settings
