// What a checkpoint of a model with a config.json says about it: state.extra["model"],
//
//   {"architecture": "llama",
//    "config": {…},                  config.json as it was read, unknown keys and all
//    "tensors": {…},                 what they are called (tensor_names.hpp); absent: as a Llama's
//    "base_model": {"folder": "/…",  absent: from scratch
//                   "digest": "…",   of its weights (weights_digest.hpp)
//                   "files": […]},   their identity, may be absent
//    "lora": {…},                    absent: every weight is trained and in the checkpoint
//    "end_tokens": [2],              ids that end an answer, may be absent
//    "prompt_format": "chatml",      how it was asked (finetune.md), may be absent
//    "chat_template": "{% for …",    the same in Jinja, where the base's own is not it
//    "template_variables": {…}}      what the base's own was given by name, may be absent
//
// With "lora" the checkpoint's model section holds adapters alone (lora.hpp), else the tensors have
// the folder's names; those with a row for each token are padded with zero rows to a multiple
// of 32.
//
// Writing never fails. Reading: kind usage for a checkpoint of a model that has no config.json,
// corrupt for a record that does not hold what it must. to_json and parse_record are pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/huggingface/model/lora.hpp"
#include "checkpoint/huggingface/model/model_folder.hpp"
#include "checkpoint/huggingface/model/tensor_names.hpp"
#include "checkpoint/huggingface/model/weights_digest.hpp"

namespace trainward::checkpoint::huggingface {

inline constexpr std::string_view record_key = "model";  // in TrainingState::extra

struct BaseModel {
  std::filesystem::path folder;  // absolute
  std::string digest;
  WeightsIdentity files;  // empty: not known
};

struct ModelRecord {
  std::string architecture;
  json::object config;
  TensorNames names;
  std::optional<BaseModel> base;
  std::optional<LoraSettings> lora;
  std::vector<std::int64_t> end_tokens;
  std::string prompt_format;
  std::string chat_template;
  json::object template_variables;
};

json::object to_json(const BaseModel& base);
Result<BaseModel> parse_base(const json::object& object);
json::object to_json(const ModelRecord& record);
Result<ModelRecord> parse_record(const json::object& object);

// Of a checkpoint's state.
Result<ModelRecord> record_of(const TrainingState& state);

// Reads all weights once, for a run that starts.
Result<BaseModel> base_of(const ModelFolder& model, const Progress& progress = {});

// Whether these are the weights that were recorded: at once if the files are untouched, else
// by their digest. Kind usage when they are others.
Status check_base(const ModelFolder& model, const BaseModel& recorded,
                  const Progress& progress = {});

}  // namespace trainward::checkpoint::huggingface
