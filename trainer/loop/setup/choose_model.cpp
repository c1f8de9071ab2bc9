#include "trainer/loop/setup/choose_model.hpp"

#include "checkpoint/huggingface/folder_path.hpp"
#include "checkpoint/huggingface/weights_digest.hpp"
#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "common/os/json_file.hpp"
#include "trainer/model/architecture.hpp"
#include "trainer/model/llama/config.hpp"

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
  LlamaSpec& llama = model.llama;
  llama.inner = of.inner();
  llama.kv_heads = of.groups();
  llama.head_width = of.head_width();
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
    auto base = BaseModel::open(config.base_model);
    if (!base) return propagate(base);
    chosen.base = *std::move(base);
    chosen.config = chosen.base->folder().config();
    model = chosen.base->model();
    config.model = chosen.base->folder().path().filename().string();
    // Whoever names no tokenizer means the model's own.
    const auto& own = chosen.base->folder().tokenizer();
    if (own && config.tokenizer == "byte") config.tokenizer = own->string();
  } else if (!config.model_config.empty()) {
    const fs::path file = hf::folder_path(config.model_config);
    auto read = hf::read_config(file);
    if (!read) return propagate(read);
    auto sizes = read_llama_config(*read, file.string());
    if (!sizes) return propagate(sizes);
    model = *sizes;
    chosen.config = *std::move(read);
  } else if (config.own_llama) {
    model = from_settings(config.llama);
  } else {
    return {};
  }
  if (!chosen.config.empty()) config.model_vocabulary = model.vocabulary;
  if (chosen.base == nullptr) config.model = "llama";
  auto lora = adapters_of(config);
  if (!lora) return propagate(lora);
  model.lora = *lora;
  return {};
}

// The digest that was made of these files, as long as nobody has written to them.
std::optional<std::string> remembered(const fs::path& note, const hf::WeightsIdentity& identity) {
  constexpr std::size_t max_bytes = std::size_t{1} << 20U;
  auto read = read_json_file(note.string(), max_bytes);
  if (!read || !read->is_object()) return std::nullopt;
  const json::object& known = read->get_object();
  const auto files = get_array(known, "files");
  if (!files || json::value(hf::to_json(identity)) != json::value(**files)) return std::nullopt;
  auto digest = get_string(known, "digest");
  return digest ? std::optional(*digest) : std::nullopt;
}

Result<std::string> digest_of(const BaseModel& base, const fs::path& checkpoints,
                              Reporter& reporter) {
  const hf::MappedTensors& weights = base.folder().weights();
  auto identity = hf::identity_of(weights);
  if (!identity) return propagate(identity);
  const fs::path note = checkpoints / "base-model.json";
  if (auto known = remembered(note, *identity)) return *known;
  reporter.status(fmt::format("reading the base model once: {}", base.folder().path().string()));
  auto digest = hf::digest_of(weights);
  if (!digest) return digest;
  const json::object record{{"folder", base.folder().path().string()},
                            {"digest", *digest},
                            {"files", hf::to_json(*identity)}};
  std::error_code failed;
  fs::create_directories(checkpoints, failed);
  // Without the note it is read again next time.
  (void)write_file_durably(note, json::serialize(record) + "\n");
  return digest;
}

}  // namespace

Result<ChosenModel> choose_model(WorkerConfig& config) {
  ChosenModel chosen;
  if (auto ok = choose(config, chosen); !ok) return propagate(ok);
  return chosen;
}

Result<ChosenModel> choose_model(WorkerConfig& config, const fs::path& checkpoints,
                                 Reporter& reporter) {
  auto chosen = choose_model(config);
  if (!chosen || chosen->base == nullptr) return chosen;
  const BaseModel& base = *chosen->base;
  if (!base.left_out().empty()) {
    reporter.status(
        fmt::format("{}: the model has no place for {} ({} in all), left out",
                    base.folder().path().string(), base.left_out().front(),
                    count(static_cast<std::int64_t>(base.left_out().size()), "tensor")));
  }
  auto digest = digest_of(base, checkpoints, reporter);
  if (!digest) return propagate(digest);
  chosen->base_digest = *std::move(digest);
  config.base_digest = chosen->base_digest;
  return chosen;
}

json::object facts_of(const ChosenModel& chosen, const ModelSpec& model) {
  json::object facts = architecture_of(model).facts(model);
  if (!chosen.config.empty()) facts["config"] = chosen.config;
  if (chosen.base != nullptr) {
    facts["base_model"] = json::object{{"folder", chosen.base->folder().path().string()},
                                       {"digest", chosen.base_digest}};
  }
  return facts;
}

}  // namespace trainward::trainer
