// The settings of our own worker: the values with their defaults, and the one table of what may be
// said about them. The supervisor reads YAML by it (supervisor/config/), the worker the JSON made
// of that (trainer/loop/setup/worker_config.hpp), and docs/config.md is tested against it.
//
// A new setting is a member and a row here, and the place that uses the value.
#pragma once

#include <array>
#include <map>

#include "common/settings/llama_settings.hpp"
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
  std::string checkpoint_memory = "auto";  // whether the state is left in memory between them
  std::vector<std::string> data;
  std::string tokenizer = "byte";
  std::string end_of_text;
  std::int64_t vocabulary = 0;
  std::string device = "cpu";
  std::int64_t mesh_rows = 1;  // of the processes or devices that share each step (mesh_shape)
  std::int64_t mesh_columns = 1;
  bool enable_tp = false;  // the devices of a row share the weights, and not the sequences
  std::string plugin;
  std::uint64_t cache_limit = std::uint64_t{8} << 30U;
  double peak_tflops = 0;  // of one device or process; 0: as its data sheet says, where it is known
  std::int64_t checksum_every = 0;  // steps; 0: as often as it takes a thousandth of the time
  std::int64_t log_every = 1;

  // Fine-tuning.
  std::string base_model;  // a Hugging Face folder; empty: from scratch
  std::vector<std::string> lora_targets{"q_proj", "v_proj"};  // or the one word "all-linear"
  std::string data_form = "auto";      // a stream of tokens, or examples with answers
  std::string prompt_format = "auto";  // how an example becomes text
  std::map<std::string, json::value> template_variables;  // of the model's own template
  std::map<std::string, std::string> columns;  // our name of a row's member to the data's own
  bool train_on_prompts = false;               // else only on answers
  bool packing = false;                        // several short examples in a row
  std::string too_long = "keep_start";
  std::vector<std::string> validation_data;
  double validation_share = 0;  // of the examples, where no validation_data is named
  std::int64_t num_epochs = 0;  // 0: as many as the steps need
  std::int64_t keep_best = 0;   // checkpoints of the lowest evaluation loss that are kept
  std::int64_t patience = 0;    // evaluations without a lower loss that end the run; 0: none
  std::vector<std::string> sample_prompts;
  std::int64_t sample_tokens = 128;
  double sample_temperature = 0;
  std::int64_t sample_top_k = 0;
  double sample_top_p = 1;
  double sample_repetition_penalty = 1;

  // A Llama from scratch, where no folder says what the model is.
  LlamaSettings llama;
  bool own_llama = false;    // `llama` says it
  std::string model_config;  // or this config.json

  // Processes or devices that share each step.
  [[nodiscard]] std::int64_t ranks() const { return mesh_rows * mesh_columns; }
  // Devices of a row that share the weights; the rows then share the sequences.
  [[nodiscard]] std::int64_t columns_of_weights() const { return enable_tp ? mesh_columns : 1; }
  // That have sequences of their own: processes, devices or rows of them.
  [[nodiscard]] std::int64_t sharers() const { return ranks() / columns_of_weights(); }
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

template <typename T>
T& Member<T>::of(WorkerSettings& values) const {
  const auto* at = std::get_if<T WorkerSettings::*>(&at_);
  return at != nullptr ? values.**at : values.llama.*std::get<T LlamaSettings::*>(at_);
}

template <typename T>
const T& Member<T>::of(const WorkerSettings& values) const {
  const auto* at = std::get_if<T WorkerSettings::*>(&at_);
  return at != nullptr ? values.**at : values.llama.*std::get<T LlamaSettings::*>(at_);
}

inline constexpr std::string_view training = "training_config";
inline constexpr std::string_view device = "device_config";
inline constexpr std::string_view logging = "logging_config";
inline constexpr std::array sections{training, device, logging};

inline constexpr std::string_view lora = "training_config.lora";
inline constexpr std::string_view samples = "training_config.samples";
inline constexpr std::string_view llama = "training_config.llama";
inline constexpr std::string_view rope_scaling = "training_config.llama.rope_scaling";
inline constexpr std::array maps{
    Map{lora, [](WorkerSettings& defaults) { defaults.lora_rank = 8; }},
    Map{samples, [](WorkerSettings&) {}},
    Map{llama, [](WorkerSettings& defaults) { defaults.own_llama = true; }},
    Map{rope_scaling, [](WorkerSettings&) {}},
};

namespace words {
inline constexpr std::array<std::string_view, 3> schedules{"constant", "cosine", "linear"};
inline constexpr std::array<std::string_view, 2> precisions{"f32", "bf16"};
inline constexpr std::array<std::string_view, 4> data_formats{"auto", "text", "u16", "u32"};
inline constexpr std::array<std::string_view, 2> devices{"cpu", "pjrt"};
inline constexpr std::array<std::string_view, 2> automatic_or_off{"auto", "off"};
inline constexpr std::array<std::string_view, 2> placements{"host", "device"};
inline constexpr std::array<std::string_view, 3> attentions{"auto", "plain", "fused"};
inline constexpr std::array<std::string_view, 3> data_forms{"auto", "stream", "examples"};
inline constexpr std::array<std::string_view, 10> prompt_formats{
    "auto",   "template", "plain",  "question_answer", "chatml",
    "llama2", "llama3",   "zephyr", "alpaca",          "alpaca_stanford"};
// Of the prompt formats those that may be the model's own template.
inline constexpr std::array<std::string_view, 2> own_formats{"auto", "template"};
inline constexpr std::array<std::string_view, 3> too_long{"keep_start", "keep_end", "drop"};
inline constexpr std::array<std::string_view, 10> columns{
    "prompt", "response", "completion", "system",        "instruction",
    "input",  "output",   "messages",   "conversations", "text"};
inline constexpr std::array<std::string_view, 7> linears{
    "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"};
inline constexpr std::array<std::string_view, 3> rope_scalings{"none", "linear", "llama3"};
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
inline constexpr IntegerRange width{1, 65'536};
inline constexpr IntegerRange heads{1, 1024};
inline constexpr IntegerRange heads_or_none{0, 1024};
inline constexpr IntegerRange positions{1, 16'777'216};
inline constexpr NumberRange small{.min = 0, .max = 1, .above_min = true};
inline constexpr NumberRange large{.min = 1, .max = 1e9};
}  // namespace ranges

using W = WorkerSettings;
using L = LlamaSettings;
inline constexpr std::array worker_settings{
    Setting{training, "model", Word{&W::model, model_names}, "", Digest::composed, "",
            "size of the model"},
    Setting{training, "steps", Whole{&W::steps, ranges::steps_or_none}, "steps", Digest::composed,
            "", "the run is done after this step"},
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
    Setting{training, "hold_steps", Whole{&W::hold_steps, ranges::steps_or_none}, "steps",
            Digest::when_set, "hold", "steps at the full rate before it falls", Written::where_set},
    Setting{training, "schedule", Word{&W::schedule, words::schedules}, "", Digest::composed, "",
            "of both learning rates, after the warm-up"},
    Setting{training, "final_learning_rate_share",
            Real{&W::final_learning_rate_share, ranges::share}, "", Digest::composed, "",
            "where `cosine` and `linear` end"},
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
    Setting{training, "checkpoint_memory", Word{&W::checkpoint_memory, words::automatic_or_off}, "",
            Digest::no, "", "the state is left in memory between checkpoints, for the next attempt",
            Written::where_set},
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

    Setting{training, "base_model", Place{&W::base_model, true, "a Hugging Face folder"}, "",
            Digest::composed, "", "a folder with the model that is trained further",
            Written::where_set},
    Setting{training, "model_config", Place{&W::model_config, false, "a config.json"}, "",
            Digest::composed, "", "a `config.json` that says what is trained from scratch",
            Written::where_set},
    Setting{training, "num_epochs", Whole{&W::num_epochs, {0, 1'000'000}}, "epochs",
            Digest::composed, "", "times that all examples are seen; 0: as many as the steps need",
            Written::where_set},
    Setting{training, "data_form", Word{&W::data_form, words::data_forms}, "", Digest::when_set,
            "form", "one long text cut into blocks, or examples with answers", Written::where_set},
    Setting{training, "prompt_format", Word{&W::prompt_format, words::prompt_formats}, "",
            Digest::when_set, "prompt", "how an example becomes text", Written::where_set},
    Setting{training, "template_variables", Variables{&W::template_variables, 32}, "",
            Digest::composed, "", "what the model's own template asks for by name",
            Written::where_set},
    Setting{training, "column_mapping", Names{&W::columns, words::columns}, "", Digest::composed,
            "", "what the members of an example are called in the data", Written::where_set},
    Setting{training, "train_on_prompts", Flag{&W::train_on_prompts}, "", Digest::when_set,
            "prompts are targets", "the loss is of prompts too, not of answers alone",
            Written::where_set},
    Setting{training, "packing", Flag{&W::packing}, "", Digest::when_set, "packed",
            "several short examples in a row, none of which sees another", Written::where_set},
    Setting{training, "too_long", Word{&W::too_long, words::too_long}, "", Digest::when_set,
            "too long", "what is kept of an example longer than a block", Written::where_set},
    Setting{training, "validation_data", Paths{&W::validation_data, "", false}, "", Digest::no, "",
            "what evaluations read, where the data is not to give up a part of itself",
            Written::where_set},
    Setting{training, "validation_share", Real{&W::validation_share, ranges::share_below_one}, "",
            Digest::when_set, "held back", "share of the examples that evaluations read instead",
            Written::where_set},
    Setting{training, "keep_best", Whole{&W::keep_best, {0, 1000}}, "checkpoints", Digest::no, "",
            "checkpoints of the lowest evaluation loss that are kept besides the newest",
            Written::where_set},
    Setting{training, "patience", Whole{&W::patience, ranges::steps_or_none}, "evaluations",
            Digest::no, "",
            "evaluations without a lower loss after which the run is done; 0: never",
            Written::where_set},

    Setting{lora, "r", Whole{&W::lora_rank, ranges::many}, "", Digest::when_set, "lora rank",
            "rank of the adapters"},
    Setting{lora, "lora_alpha", Real{&W::lora_alpha, {.min = 0, .max = 1e6, .above_min = true}}, "",
            Digest::when_set, "lora alpha", "adapters count lora_alpha / r times"},
    Setting{lora, "lora_dropout", Real{&W::lora_dropout, ranges::share_below_one}, "",
            Digest::when_set, "lora dropout", "share of an adapter's input left out in training"},
    Setting{lora, "use_rslora", Flag{&W::lora_rank_stabilised}, "", Digest::when_set, "rslora",
            "they count lora_alpha / √r times instead"},
    Setting{lora, "target_modules", Texts{&W::lora_targets, 7, words::linears, "all-linear"}, "",
            Digest::composed, "", "what has adapters, or the word `all-linear`"},

    Setting{samples, "prompts", Texts{&W::sample_prompts, 64, {}, ""}, "", Digest::no, "",
            "what is continued after each evaluation"},
    Setting{samples, "tokens", Whole{&W::sample_tokens, {1, 65'536}}, "tokens", Digest::no, "",
            "longest continuation"},
    Setting{samples, "temperature", Real{&W::sample_temperature, {.min = 0, .max = 100}}, "",
            Digest::no, "", "0: always the likeliest token"},
    Setting{samples, "top_k", Whole{&W::sample_top_k, {0, 4'194'304}}, "ids", Digest::no, "",
            "only so many of the likeliest are drawn from; 0: all"},
    Setting{samples, "top_p", Real{&W::sample_top_p, ranges::small}, "", Digest::no, "",
            "only the likeliest that have this share together"},
    Setting{samples, "repetition_penalty",
            Real{&W::sample_repetition_penalty, {.min = 0, .max = 100, .above_min = true}}, "",
            Digest::no, "", "above 1: less of what was there already"},

    Setting{llama, "hidden", Whole{&L::hidden, ranges::width}, "", Digest::when_set, "llama hidden",
            "width of the model; must be given"},
    Setting{llama, "layers", Whole{&L::layers, {1, 1024}}, "", Digest::when_set, "llama layers",
            "blocks; must be given"},
    Setting{llama, "heads", Whole{&L::heads, ranges::heads}, "", Digest::when_set, "llama heads",
            "heads of attention; must be given"},
    Setting{llama, "intermediate", Whole{&L::intermediate, {0, 262'144}}, "", Digest::when_set,
            "llama inner", "width of the feed-forward part; 0: 8/3 of hidden, up to the next 256"},
    Setting{llama, "kv_heads", Whole{&L::kv_heads, ranges::heads_or_none}, "", Digest::when_set,
            "llama groups", "heads of keys and values; 0: as many as heads"},
    Setting{llama, "head_dim", Whole{&L::head_dim, ranges::heads_or_none}, "", Digest::when_set,
            "llama head", "width of a head; 0: hidden / heads"},
    Setting{llama, "rms_norm_eps", Real{&L::rms_norm_eps, ranges::small}, "", Digest::when_set,
            "llama epsilon", "added before the root in norms"},
    Setting{llama, "rope_theta", Real{&L::rope_theta, ranges::large}, "", Digest::when_set,
            "llama theta", "base of the rotary positions"},
    Setting{llama, "tie_word_embeddings", Flag{&L::tie_word_embeddings}, "", Digest::when_set,
            "llama tied", "the output head uses the embedding's weights"},
    Setting{llama, "attention_bias", Flag{&L::attention_bias}, "", Digest::when_set,
            "llama attention biases", "biases in attention's four products"},
    Setting{llama, "mlp_bias", Flag{&L::mlp_bias}, "", Digest::when_set, "llama inner biases",
            "biases in the feed-forward part"},
    Setting{llama, "qk_norm", Flag{&L::qk_norm}, "", Digest::when_set, "llama qk norms",
            "queries and keys are normalised, as in Qwen3"},
    Setting{llama, "max_position_embeddings", Whole{&L::max_position_embeddings, ranges::positions},
            "tokens", Digest::no, "", "longest text it is made for"},
    Setting{llama, "initializer_range", Real{&L::initializer_range, ranges::small}, "",
            Digest::when_set, "llama deviation", "standard deviation of the first weights"},
    Setting{rope_scaling, "type", Choice{&L::rope_scaling, words::rope_scalings}, "",
            Digest::when_set, "llama scaling", "how positions are stretched"},
    Setting{rope_scaling, "factor", Real{&L::rope_factor, {.min = 0, .max = 1e9}}, "",
            Digest::when_set, "llama factor", "by how much; 0: not"},
    Setting{rope_scaling, "low_freq_factor", Real{&L::rope_low_freq_factor, ranges::large}, "",
            Digest::when_set, "llama low", "of `llama3`: below this many turns all of it"},
    Setting{rope_scaling, "high_freq_factor", Real{&L::rope_high_freq_factor, ranges::large}, "",
            Digest::when_set, "llama high", "of `llama3`: above this many turns nothing"},
    Setting{rope_scaling, "original_max_position_embeddings",
            Whole{&L::rope_original_positions, ranges::positions}, "tokens", Digest::when_set,
            "llama original", "of `llama3`: the texts that the model saw first"},

    Setting{device, "device", Word{&W::device, words::devices}, "", Digest::no, "",
            "what computes"},
    Setting{device, "threads", Whole{&W::threads, {1, 1024}}, "", Digest::always, "threads",
            "fixed, because results depend on it"},
    Setting{device, "mesh_shape", Mesh{&W::mesh_rows, &W::mesh_columns, 1024}, "", Digest::no, "",
            "as many processes, or devices of a plugin, share each step"},
    Setting{device, "enable_ddp", Flag{&W::enable_ddp}, "", Digest::no, "",
            "needed where several share the sequences of a step"},
    Setting{device, "enable_tp", Flag{&W::enable_tp}, "", Digest::no, "",
            "the devices of a row share the weights: see [scaling.md](scaling.md)",
            Written::where_set},
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
    Setting{device, "peak_tflops", Real{&W::peak_tflops, {.min = 0, .max = 1e6}}, "", Digest::no,
            "",
            "TFLOP/s that one device, or process, can do at most in this precision, for the model "
            "FLOPs utilization; 0: as its data sheet says, where that is known",
            Written::where_set},
    Setting{device, "checksum_every", Whole{&W::checksum_every, {0, 1'000'000'000}}, "steps",
            Digest::no, "",
            "how often the copies of the parameters that devices or processes hold are compared; "
            "0: as often as it takes 0.1 % of the time",
            Written::where_set},

    Setting{logging, "log_every", Whole{&W::log_every, ranges::steps}, "steps", Digest::no, "",
            "steps between lines of the worker's log"},
};

}  // namespace trainward::settings
