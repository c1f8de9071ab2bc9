// Which model a run trains, as its configuration says: one of the named sizes, the folder it begins
// from, or a Llama from scratch.
//
// In: the configuration as it was read; where the run keeps its checkpoints, for a note of the base
// model's digest there (base-model.json), so that its files are read whole once and not at each
// start. Out: the configuration with its model, adapters and the model's own tokenizer included;
// the base model, mapped; what of both a checkpoint says about itself. Errors: usage, naming the
// key.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "checkpoint/huggingface/model/model_record.hpp"
#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "trainer/loop/reporting/reporter.hpp"
#include "trainer/loop/setup/prompting.hpp"
#include "trainer/loop/setup/worker_config.hpp"
#include "trainer/model/huggingface/base_model.hpp"

namespace trainward::trainer {

struct ChosenModel {
  std::unique_ptr<BaseModel> base;  // nullptr: from scratch
  // What a checkpoint says of it; without a digest unless one was asked for.
  checkpoint::huggingface::BaseModel origin;
  json::object config;  // a config.json that was read; may be empty
};

// Of the configuration alone: what commands need that train nothing.
Result<ChosenModel> choose_model(WorkerConfig& config);
// With the digest of the base.
Result<ChosenModel> choose_model(WorkerConfig& config, const std::filesystem::path& checkpoints,
                                 Reporter& reporter);

// What a checkpoint says of its model, beside the tensors; once the vocabulary is known.
// `prompting` is how its examples were put, nullptr for a stream.
json::object facts_of(const ChosenModel& chosen, const ModelSpec& model,
                      const Prompting* prompting);

}  // namespace trainward::trainer
