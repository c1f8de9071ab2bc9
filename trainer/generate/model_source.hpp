// A model to generate with, wherever it lies.
//
//   a checkpoint of ours           every weight, or adapters over the base model it names
//   a folder of Hugging Face's     config.json and safetensors
//   a folder of PEFT's             adapters over the base model it names, or that is named here
//
// open() tells which it is and reads headers and settings alone; load() brings the weights, once
// the tokenizer is known. What lies in a model's folder is looked at where it is mapped, without a
// copy; what a checkpoint holds is read into memory, each byte compared with its checksum. A base
// model must be the one that the adapters of a checkpoint were trained on: it is read whole once
// where its files do not say so by themselves.
//
// Errors: usage with what to do for a folder that is not a model, adapters without their base or of
// another shape, a tokenizer with more ids than the model has; those of reading the files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/huggingface/adapter/adapter.hpp"
#include "checkpoint/reader.hpp"
#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "trainer/cpu/runtime/memory.hpp"
#include "trainer/generate/model_weights.hpp"
#include "trainer/model/huggingface/base_model.hpp"
#include "trainer/model/training/fixed_values.hpp"

namespace trainward::trainer {

// The model that a checkpoint with these tensors holds. Error usage, naming what is missing or odd,
// when it is of no architecture known here, or `vocabulary` has no place in it.
Result<ModelSpec> model_of(const checkpoint::Reader& checkpoint, std::int64_t vocabulary);
Result<ModelSpec> model_of(const std::vector<checkpoint::TensorInfo>& tensors,
                           const json::object& facts, std::int64_t vocabulary);

// What a config.json or generation_config.json says ends a text: "eos_token_id", a number or a
// list; values that are not ids are left out.
std::vector<std::int32_t> end_tokens_in(const json::object& settings);

// Weights with the memory they lie in. Borrows the source.
struct LoadedModel {
  ModelWeights weights;
  cpu::Memory own;    // what was read from a checkpoint or an adapter
  FixedValues fixed;  // what is looked at in a model's folder
};

class ModelSource {
 public:
  // `base`: where the base model of adapters lies now; none: where they say.
  static Result<ModelSource> open(const std::filesystem::path& path,
                                  const std::optional<std::filesystem::path>& base = {});

  // `vocabulary`: of the tokenizer.
  [[nodiscard]] Result<LoadedModel> load(std::int64_t vocabulary) const;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] bool is_checkpoint() const { return reader_.has_value(); }
  [[nodiscard]] bool has_adapters() const;
  [[nodiscard]] std::int64_t step() const;  // of a checkpoint; else 0
  // That a checkpoint's run began under (edition.hpp); else the current one.
  [[nodiscard]] int edition() const;
  // Where tokenizer, chat template and generation settings may lie, the likeliest first; these
  // folders exist.
  [[nodiscard]] const std::vector<std::filesystem::path>& folders() const { return folders_; }
  // How a checkpoint's examples were put (finetune.md); empty: as the folders say.
  [[nodiscard]] const std::string& prompt_format() const { return prompt_format_; }
  // What the folders' chat template was given in training; empty: nothing.
  [[nodiscard]] const json::object& template_variables() const { return template_variables_; }
  // What config.json, generation_config.json and the run say ends a text; may be empty.
  [[nodiscard]] const std::vector<std::int32_t>& end_tokens() const { return end_tokens_; }

 private:
  ModelSource() = default;
  Status open_checkpoint();
  Status open_adapter(const std::optional<std::filesystem::path>& base);
  Status open_base(const std::filesystem::path& folder);
  void look_for_words(const json::object& facts);
  void add_folder(const std::filesystem::path& folder);
  void add_ends(const json::object& config);
  [[nodiscard]] const json::object& facts() const;
  [[nodiscard]] Result<LoraSpec> peft_lora() const;
  [[nodiscard]] Result<LoadedModel> load_checkpoint(std::int64_t vocabulary) const;
  [[nodiscard]] Result<LoadedModel> load_folder() const;
  [[nodiscard]] Result<LoadedModel> load_adapters(const ModelSpec& model) const;
  [[nodiscard]] Status fill_adapters(const ParameterTable& table, const cpu::Memory& memory) const;
  [[nodiscard]] Status fill_from_peft(const ParameterTable& table, float* at) const;

  std::filesystem::path path_;
  std::optional<checkpoint::Reader> reader_;
  std::optional<checkpoint::huggingface::Adapter> adapter_;
  std::unique_ptr<BaseModel> base_;  // nullptr: everything is in the checkpoint
  std::vector<std::filesystem::path> folders_;
  std::vector<std::int32_t> end_tokens_;
  std::string prompt_format_;
  json::object template_variables_;
};

}  // namespace trainward::trainer
