#include "checkpoint/huggingface/model/model_record.hpp"

#include <utility>

namespace trainward::checkpoint::huggingface {
namespace {

constexpr std::size_t max_end_tokens = 1024;

Result<std::vector<std::int64_t>> parse_end_tokens(const json::array& array) {
  std::vector<std::int64_t> tokens;
  for (const json::value& value : array) {
    if (!value.is_int64() || value.get_int64() < 0 || tokens.size() == max_end_tokens) {
      return fail(ErrorKind::corrupt, "'end_tokens' is not a list of token ids");
    }
    tokens.push_back(value.get_int64());
  }
  return tokens;
}

}  // namespace

json::object to_json(const BaseModel& base) {
  json::object object{{"folder", base.folder.string()}, {"digest", base.digest}};
  if (!base.files.empty()) object["files"] = to_json(base.files);
  return object;
}

Result<BaseModel> parse_base(const json::object& object) {
  BaseModel base;
  auto folder = get_string(object, "folder");
  if (!folder) return propagate(folder);
  base.folder = std::move(*folder);
  auto digest = get_string(object, "digest");
  if (!digest) return propagate(digest);
  base.digest = std::move(*digest);
  if (!object.contains("files")) return base;
  auto files = get_array(object, "files");
  if (!files) return propagate(files);
  auto identity = parse_identity(**files);
  if (!identity) return propagate(identity);
  base.files = std::move(*identity);
  return base;
}

json::object to_json(const ModelRecord& record) {
  json::object object{{"architecture", record.architecture}, {"config", record.config}};
  if (record.names != TensorNames{}) object["tensors"] = to_json(record.names);
  if (record.base) object["base_model"] = to_json(*record.base);
  if (record.lora) object["lora"] = to_json(*record.lora);
  if (!record.end_tokens.empty()) {
    object["end_tokens"] = json::array(record.end_tokens.begin(), record.end_tokens.end());
  }
  if (!record.prompt_format.empty()) object["prompt_format"] = record.prompt_format;
  if (!record.chat_template.empty()) object["chat_template"] = record.chat_template;
  if (!record.template_variables.empty()) object["template_variables"] = record.template_variables;
  return object;
}

Result<ModelRecord> parse_record(const json::object& object) {
  ModelRecord record;
  auto config = get_object(object, "config");
  if (!config) return propagate(config);
  record.config = **config;
  record.architecture = string_or(object, "architecture", "");
  if (object.contains("tensors")) {
    auto tensors = get_object(object, "tensors");
    if (!tensors) return propagate(tensors);
    auto names = parse_tensor_names(**tensors);
    if (!names) return propagate(names);
    record.names = std::move(*names);
  }
  if (object.contains("base_model")) {
    auto base = get_object(object, "base_model");
    if (!base) return propagate(base);
    auto parsed = parse_base(**base);
    if (!parsed) return propagate(parsed);
    record.base = std::move(*parsed);
  }
  if (object.contains("lora")) {
    auto lora = get_object(object, "lora");
    if (!lora) return propagate(lora);
    auto parsed = parse_lora(**lora);
    if (!parsed) return propagate(parsed);
    record.lora = std::move(*parsed);
  }
  if (object.contains("end_tokens")) {
    auto tokens = get_array(object, "end_tokens");
    if (!tokens) return propagate(tokens);
    auto parsed = parse_end_tokens(**tokens);
    if (!parsed) return propagate(parsed);
    record.end_tokens = std::move(*parsed);
  }
  record.prompt_format = string_or(object, "prompt_format", "");
  record.chat_template = string_or(object, "chat_template", "");
  if (object.contains("template_variables")) {
    auto variables = get_object(object, "template_variables");
    if (!variables) return propagate(variables);
    record.template_variables = **variables;
  }
  return record;
}

Result<ModelRecord> record_of(const TrainingState& state) {
  const json::value* found = state.extra.if_contains(record_key);
  const bool has_config =
      found != nullptr && found->is_object() && found->get_object().contains("config");
  if (!has_config) {
    return fail(ErrorKind::usage, "holds no model with a config.json", {},
                "only checkpoints of models with a config.json can be written as such a folder; "
                "`trainwardctl ckpt convert --weights` writes the tensors of any other");
  }
  auto record = parse_record(found->get_object());
  if (!record) record.error().where = "state.json: model";
  return record;
}

Result<BaseModel> base_of(const ModelFolder& model, const Progress& progress) {
  auto files = identity_of(model.weights());
  if (!files) return propagate(files);
  auto digest = digest_of(model.weights(), progress);
  if (!digest) return propagate(digest);
  return BaseModel{model.path(), std::move(*digest), std::move(*files)};
}

Status check_base(const ModelFolder& model, const BaseModel& recorded, const Progress& progress) {
  auto files = identity_of(model.weights());
  if (!files) return propagate(files);
  if (!recorded.files.empty() && *files == recorded.files) return {};
  auto digest = digest_of(model.weights(), progress);
  if (!digest) return propagate(digest);
  if (*digest == recorded.digest) return {};
  return fail(ErrorKind::usage,
              fmt::format("holds other weights than the run began from: their digest is {}, it was "
                          "{} ({})",
                          *digest, recorded.digest, recorded.folder.string()),
              model.path().string(), "name the folder of the base model as it was");
}

}  // namespace trainward::checkpoint::huggingface
