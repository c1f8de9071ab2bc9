#include "checkpoint/huggingface/model/model_folder.hpp"

#include <utility>

#include "checkpoint/format/strict_json.hpp"
#include "checkpoint/huggingface/model/unusable.hpp"
#include "common/os/file.hpp"

namespace trainward::checkpoint::huggingface {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t max_template_bytes = 1U << 20U;

Status refuse_quantised(const json::object& config, std::string_view where) {
  const json::value* found = config.if_contains("quantization_config");
  if (found == nullptr || found->is_null()) return {};
  const std::string method =
      found->is_object() ? string_or(found->get_object(), "quant_method", "") : "";
  return fail(ErrorKind::usage,
              fmt::format("is of a quantised model{}", method.empty() ? "" : " (" + method + ")"),
              std::string(where), "take the model that it was made from, in bf16, f16 or f32");
}

Result<std::optional<std::string>> template_in(const json::object& tokenizer_config,
                                               const fs::path& where) {
  const json::value* found = tokenizer_config.if_contains("chat_template");
  if (found == nullptr || found->is_null()) return std::nullopt;
  if (found->is_string()) return std::string(view(found->get_string()));
  if (!found->is_array()) {
    return fail(ErrorKind::corrupt, "'chat_template' is neither a text nor a list", where.string());
  }
  for (const json::value& entry : found->get_array()) {
    if (!entry.is_object() || string_or(entry.get_object(), "name", "") != "default") continue;
    auto text = get_string(entry.get_object(), "template");
    if (!text) {
      text.error().where = where.string();
      return propagate(text);
    }
    return std::move(*text);
  }
  return std::nullopt;
}

}  // namespace

Result<json::object> parse_object(std::string_view text, std::string_view where) {
  auto value = parse_strict_json(text, where);
  if (!value) return propagate(value);
  if (!value->is_object()) {
    return fail(ErrorKind::corrupt, "is not a JSON object", std::string(where));
  }
  return std::move(value->get_object());
}

Result<std::optional<json::object>> read_object(const fs::path& file, std::size_t max_bytes) {
  if (!is_there(file)) return std::nullopt;
  auto text = read_file(file, max_bytes);
  if (!text) return propagate(text);
  auto object = parse_object(*text, file.string());
  if (!object) return propagate(object);
  return std::move(*object);
}

Result<json::object> parse_config(std::string_view text, std::string_view where) {
  auto config = parse_object(text, where);
  if (!config) return config;
  if (auto ok = refuse_quantised(*config, where); !ok) return propagate(ok);
  return config;
}

Result<json::object> read_config(const fs::path& file) {
  auto text = read_file(file, max_config_bytes);
  if (!text) return propagate(text);
  return parse_config(*text, file.string());
}

Result<std::optional<std::string>> read_chat_template(const fs::path& folder,
                                                      const json::object& tokenizer_config) {
  const fs::path own = folder / template_file;
  if (!is_there(own)) return template_in(tokenizer_config, folder / "tokenizer_config.json");
  auto text = read_file(own, max_template_bytes);
  if (!text) return propagate(text);
  return std::move(*text);
}

Result<ModelFolder> ModelFolder::open(const fs::path& folder) {
  if (auto ok = check_folder(folder); !ok) return propagate(ok);
  ModelFolder model;
  std::error_code error;
  model.path_ = fs::absolute(folder, error).lexically_normal();
  if (error) return fail_errno(error.value(), "find the folder", folder.string());
  if (!model.path_.has_filename()) model.path_ = model.path_.parent_path();
  auto config = read_config(model.path_ / "config.json");
  if (!config) return propagate(config);
  model.config_ = std::move(*config);
  auto generation = read_object(model.path_ / "generation_config.json", max_config_bytes);
  if (!generation) return propagate(generation);
  model.generation_config_ = std::move(*generation);
  auto tokenizer = read_object(model.path_ / "tokenizer_config.json", max_tokenizer_config_bytes);
  if (!tokenizer) return propagate(tokenizer);
  auto chat = read_chat_template(model.path_, tokenizer->value_or(json::object()));
  if (!chat) return propagate(chat);
  model.chat_template_ = std::move(*chat);
  if (is_there(model.path_ / "tokenizer.json")) model.tokenizer_ = model.path_ / "tokenizer.json";
  auto weights = is_there(model.path_ / "model.safetensors")
                     ? MappedTensors::of_file(model.path_, "model.safetensors")
                     : MappedTensors::of_index(model.path_, "model.safetensors.index.json");
  if (!weights) return propagate(weights);
  model.weights_ = std::move(*weights);
  return model;
}

}  // namespace trainward::checkpoint::huggingface
