#include "checkpoint/huggingface/writing/written_config.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace trainward::checkpoint::huggingface {
namespace {

constexpr std::array<std::pair<DType, std::string_view>, 3> torch_names{{
    {DType::f32, "float32"},
    {DType::bf16, "bfloat16"},
    {DType::f16, "float16"},
}};

// Only f32, bf16 and f16 have one.
std::string_view torch_name(DType type) {
  const auto row = std::find_if(torch_names.begin(), torch_names.end(),
                                [&](const auto& each) { return each.first == type; });
  return row == torch_names.end() ? "float32" : row->second;
}

std::optional<DType> type_from_torch(std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(6);
  const auto row = std::find_if(torch_names.begin(), torch_names.end(),
                                [&](const auto& each) { return each.second == name; });
  if (row == torch_names.end()) return std::nullopt;
  return row->first;
}

json::string text_of(std::string_view text) { return json::string(text.data(), text.size()); }

// "rope_parameters" of one kind for all layers, which the older pair can say.
const json::object* rope_parameters(const json::object& config) {
  const json::value* found = config.if_contains("rope_parameters");
  if (found == nullptr || !found->is_object()) return nullptr;
  return found->get_object().contains("rope_theta") ? &found->get_object() : nullptr;
}

json::value rope_scaling(const json::object& parameters) {
  json::object scaling;
  for (const auto& [key, value] : parameters) {
    if (key != "rope_theta") scaling[key] = value;
  }
  const bool plain =
      scaling.size() <= 1 && string_or(parameters, "rope_type", "default") == "default";
  return plain ? json::value() : json::value(std::move(scaling));
}

void add_tokens(json::array& tokens, const json::value* value) {
  if (value == nullptr) return;
  const auto add = [&](const json::value& token) {
    if (token.is_number() && std::find(tokens.begin(), tokens.end(), token) == tokens.end()) {
      tokens.push_back(token);
    }
  };
  if (!value->is_array()) return add(*value);
  for (const json::value& token : value->get_array()) add(token);
}

}  // namespace

std::optional<DType> type_in(const json::object& config) {
  for (const std::string_view key : {"torch_dtype", "dtype"}) {
    if (const auto type = type_from_torch(string_or(config, key, ""))) return type;
  }
  return std::nullopt;
}

bool is_tied(const json::object& config) { return bool_or(config, "tie_word_embeddings", false); }

json::object written_config(const json::object& config, DType type) {
  const json::object* rope = rope_parameters(config);
  json::object written;
  bool typed = false;
  for (const auto& [key, value] : config) {
    if (key == "torch_dtype" || key == "dtype") {
      written[key] = text_of(torch_name(type));
      typed = true;
    } else if (rope != nullptr && key == "rope_parameters") {
      written["rope_theta"] = rope->at("rope_theta");
      written["rope_scaling"] = rope_scaling(*rope);
    } else if (rope == nullptr || (key != "rope_theta" && key != "rope_scaling")) {
      written[key] = value;
    }
  }
  if (!typed) written["torch_dtype"] = text_of(torch_name(type));
  return written;
}

std::optional<json::object> written_generation(const std::optional<json::object>& base,
                                               const json::object& config,
                                               const std::vector<std::int64_t>& end_tokens) {
  json::object written;
  if (base) {
    written = *base;
  } else {
    for (const std::string_view key : {"bos_token_id", "eos_token_id", "pad_token_id"}) {
      const json::string_view name(key.data(), key.size());
      const json::value* value = config.if_contains(name);
      if (value != nullptr && !value->is_null()) written[name] = *value;
    }
  }
  const json::value* before = written.if_contains("eos_token_id");
  if (before == nullptr || before->is_null()) before = config.if_contains("eos_token_id");
  json::array tokens;
  add_tokens(tokens, before);
  const std::size_t known = tokens.size();
  for (const std::int64_t token : end_tokens) {
    const json::value added(token);
    add_tokens(tokens, &added);
  }
  if (tokens.size() > known) {
    written["eos_token_id"] = tokens.size() == 1 ? tokens.front() : json::value(std::move(tokens));
  }
  if (written.empty()) return std::nullopt;
  return written;
}

}  // namespace trainward::checkpoint::huggingface
