// A model's folder as Hugging Face's tools write it, opened for reading.
//
// In: a path of foreign origin (folder_path.hpp for what a person wrote). Out: config.json as it
// is, unknown keys kept in their order; generation_config.json where there is such; where the
// tokenizer lies; the chat template; the tensors, mapped (mapped_tensors.hpp), which live as long
// as the object. Only headers and small files are read.
//
// What the configuration means is not asked here, but for one thing: a quantised model is refused.
// Errors: kind usage with what to do for what is no such folder (unusable.hpp), kind corrupt with
// the file for what is damaged.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/huggingface/model/mapped_tensors.hpp"
#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::checkpoint::huggingface {

inline constexpr std::size_t max_config_bytes = 1U << 20U;
// Some list every added token with its description.
inline constexpr std::size_t max_tokenizer_config_bytes = 16U << 20U;

// A config.json alone, for a model from scratch. At most 1 MiB.
Result<json::object> read_config(const std::filesystem::path& file);
// The same of text; `where` names it in errors. Pure.
Result<json::object> parse_config(std::string_view text, std::string_view where);

// One of the small files: an object, its members checked to be there once. Nothing when there is no
// such file.
Result<std::optional<json::object>> read_object(const std::filesystem::path& file,
                                                std::size_t max_bytes);
// The same of text; `where` names it in errors. Pure.
Result<json::object> parse_object(std::string_view text, std::string_view where);

class ModelFolder {
 public:
  static Result<ModelFolder> open(const std::filesystem::path& folder);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }  // absolute
  [[nodiscard]] const json::object& config() const { return config_; }
  [[nodiscard]] const std::optional<json::object>& generation_config() const {
    return generation_config_;
  }
  [[nodiscard]] const std::optional<std::filesystem::path>& tokenizer() const {
    return tokenizer_;  // tokenizer.json
  }
  [[nodiscard]] const std::optional<std::string>& chat_template() const { return chat_template_; }

  // By name. The dtype is that of the file: BF16, F16, F32 or another.
  [[nodiscard]] const std::vector<TensorView>& tensors() const { return weights_.all(); }
  [[nodiscard]] const TensorView* find(std::string_view name) const { return weights_.find(name); }
  [[nodiscard]] const MappedTensors& weights() const { return weights_; }

 private:
  ModelFolder() = default;
  std::filesystem::path path_;
  json::object config_;
  std::optional<json::object> generation_config_;
  std::optional<std::filesystem::path> tokenizer_;
  std::optional<std::string> chat_template_;
  MappedTensors weights_;
};

inline constexpr const char* template_file = "chat_template.jinja";

// The template of a folder: chat_template.jinja, else what tokenizer_config.json says (a text, or a
// list in which one is called "default").
Result<std::optional<std::string>> read_chat_template(const std::filesystem::path& folder,
                                                      const json::object& tokenizer_config);

}  // namespace trainward::checkpoint::huggingface
