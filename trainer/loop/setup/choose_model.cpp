#include "trainer/loop/setup/choose_model.hpp"

#include "checkpoint/huggingface/model/folder_path.hpp"
#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "common/os/json_file.hpp"
#include "trainer/model/architecture.hpp"
#include "trainer/model/llama/llama_spec.hpp"
#include "trainer/model/llama/lora_config.hpp"

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;
namespace hf = checkpoint::huggingface;

ModelSpec from_settings(const settings::LlamaSettings& of) {
  ModelSpec model;
  model.architecture = find_architecture("llama").value();
  model.width = of.hidden;
  model.layers = of.layers;
  model.heads = of.heads;
  model.tied = of.tie_word_embeddings;
  model.positions = of.max_position_embeddings;
  model.rank = of.head_width();
  LlamaSpec& llama = llama_part(model);
  llama.inner = of.inner();
  llama.kv_heads = of.groups();
  model.own_head_width = of.head_width();
  llama.norm_epsilon = of.rms_norm_eps;
  llama.rope.theta = of.rope_theta;
  llama.rope.scaling = static_cast<RopeSpec::Scaling>(of.rope_scaling);
  llama.rope.factor = of.rope_factor;
  llama.rope.low = of.rope_low_freq_factor;
  llama.rope.high = of.rope_high_freq_factor;
  llama.rope.original_positions = of.rope_original_positions;
  llama.qkv_biases = llama.output_bias = of.attention_bias;
  llama.mlp_biases = of.mlp_bias;
  llama.qk_norms = of.qk_norm;
  llama.deviation = of.initializer_range;
  return model;
}

Result<LoraSpec> adapters_of(const WorkerConfig& config) {
  LoraSpec lora;
  const TrainingSpec& training = config.training;
  if (training.lora_rank == 0) return lora;
  lora = {training.lora_rank, training.lora_alpha, training.lora_dropout,
          training.lora_rank_stabilised, 0};
  for (const std::string& name : config.lora_targets) {
    auto targets = lora_targets(name);
    if (!targets) return propagate(targets);
    lora.targets |= *targets;
  }
  return lora;
}

Status choose(WorkerConfig& config, ChosenModel& chosen) {
  ModelSpec& model = config.training.model;
  if (!config.base_model.empty()) {
    auto base = BaseModel::open(config.base_model, config.edition);
    if (!base) return propagate(base);
    chosen.base = *std::move(base);
    chosen.config = chosen.base->folder().config();
    model = chosen.base->model();
    config.model = chosen.base->folder().path().filename().string();
    // Without a named tokenizer, the model's own is used.
    const auto& own = chosen.base->folder().tokenizer();
    if (own && config.tokenizer == "byte") config.tokenizer = own->string();
  } else if (!config.model_config.empty()) {
    const fs::path file = hf::folder_path(config.model_config);
    auto read = hf::read_config(file);
    if (!read && read.error().kind != ErrorKind::transient) read.error().kind = ErrorKind::usage;
    if (!read) return propagate(read);
    auto sizes = read_model_config(*read, file.string(), config.edition);
    if (!sizes) return propagate(sizes);
    model = *sizes;
    chosen.config = *std::move(read);
  } else if (config.own_llama) {
    model = from_settings(config.llama);
  } else {
    return {};
  }
  if (!chosen.config.empty()) config.model_vocabulary = model.vocabulary;
  if (chosen.base == nullptr) config.model = architecture_of(model).name();
  auto lora = adapters_of(config);
  if (!lora) return propagate(lora);
  model.lora = *lora;
  return {};
}

// What was noted about these files, as long as they have not been written to.
std::optional<hf::BaseModel> remembered(const fs::path& note, const BaseModel& base) {
  constexpr std::size_t max_bytes = std::size_t{1} << 20U;
  auto read = read_json_file(note.string(), max_bytes);
  if (!read || !read->is_object()) return std::nullopt;
  auto known = hf::parse_base(read->get_object());
  auto files = hf::identity_of(base.folder().weights());
  if (!known || !files || known->files != *files) return std::nullopt;
  known->folder = base.folder().path();
  return *std::move(known);
}

Result<hf::BaseModel> origin_of(const BaseModel& base, const fs::path& checkpoints,
                                Reporter& reporter) {
  const fs::path note = checkpoints / "base-model.json";
  if (auto known = remembered(note, base)) return *std::move(known);
  reporter.status(fmt::format("reading the base model once: {}", base.folder().path().string()));
  if (auto ok = base.check_numbers(); !ok) return propagate(ok);
  auto origin = hf::base_of(base.folder());
  if (!origin) return origin;
  std::error_code failed;
  fs::create_directories(checkpoints, failed);
  // Without the note it is read again next time.
  (void)write_file_durably(note, json::serialize(hf::to_json(*origin)) + "\n");
  return origin;
}

}  // namespace

Result<ChosenModel> choose_model(WorkerConfig& config) {
  ChosenModel chosen;
  if (auto ok = choose(config, chosen); !ok) return propagate(ok);
  if (chosen.base != nullptr) {
    if (auto ok = chosen.base->check_numbers(); !ok) return propagate(ok);
  }
  return chosen;
}

Result<ChosenModel> choose_model(WorkerConfig& config, const fs::path& checkpoints,
                                 Reporter& reporter) {
  ChosenModel chosen;
  if (auto ok = choose(config, chosen); !ok) return propagate(ok);
  if (chosen.base == nullptr) return chosen;
  const BaseModel& base = *chosen.base;
  if (!base.left_out().empty()) {
    reporter.status(
        fmt::format("{}: the model has no place for {} ({} in all), left out",
                    base.folder().path().string(), base.left_out().front(),
                    count(static_cast<std::int64_t>(base.left_out().size()), "tensor")));
  }
  auto origin = origin_of(base, checkpoints, reporter);
  if (!origin) return propagate(origin);
  chosen.origin = *std::move(origin);
  config.base_digest = chosen.origin.digest;
  return chosen;
}

json::object facts_of(const ChosenModel& chosen, const ModelSpec& model,
                      const Prompting* prompting) {
  json::object facts = architecture_of(model).facts(model);
  if (!facts.contains("config")) return facts;
  // What the architecture says, in the reader's terms.
  auto record = hf::parse_record(facts);
  if (!record) return facts;
  if (!chosen.config.empty()) record->config = chosen.config;
  record->config["vocab_size"] = model.vocabulary;
  if (chosen.base != nullptr) record->base = chosen.origin;
  if (prompting != nullptr) {
    record->end_tokens.assign(prompting->rules.ends.begin(), prompting->rules.ends.end());
    record->chat_template = prompting->format->as_template(!prompting->rules.beginning.empty());
    if (!record->chat_template.empty()) record->prompt_format = prompting->format->name();
    record->template_variables = prompting->template_variables;
  }
  return hf::to_json(*record);
}

}  // namespace trainward::trainer
