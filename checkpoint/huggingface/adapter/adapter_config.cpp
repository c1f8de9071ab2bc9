#include "checkpoint/huggingface/adapter/adapter_config.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "checkpoint/huggingface/model/model_folder.hpp"
#include "common/base/text.hpp"

namespace trainward::checkpoint::huggingface {
namespace {

// Keys that must be absent, null, false, empty or the text "none", with why.
struct Refused {
  std::string_view key;
  std::string_view what;
};
constexpr std::array refused_keys{
    Refused{"use_dora", "DoRA, which scales weights by magnitudes of their own"},
    Refused{"use_qalora", "QALoRA, which needs a quantised model"},
    Refused{"modules_to_save", "whole modules beside the adapters"},
    Refused{"bias", "trained biases"},
    Refused{"lora_bias", "biases inside the adapters"},
    Refused{"rank_pattern", "another rank for some modules"},
    Refused{"alpha_pattern", "another alpha for some modules"},
    Refused{"fan_in_fan_out", "weights stored the other way round"},
    Refused{"layer_replication", "layers used more than once"},
    Refused{"target_parameters", "adapters of parameters that are no module's weight"},
    Refused{"trainable_token_indices", "trained rows of the embedding"},
    Refused{"megatron_config", "Megatron's parallel layers"},
};

bool says_nothing(const json::value& value) {
  if (value.is_null()) return true;
  if (value.is_bool()) return !value.get_bool();
  if (value.is_string()) return value.get_string().empty() || value.get_string() == "none";
  if (value.is_object()) return value.get_object().empty();
  return value.is_array() && value.get_array().empty();
}

tl::unexpected<Error> refuse(std::string_view where, std::string what) {
  return fail(ErrorKind::usage, std::move(what), std::string(where),
              "merge it with PEFT (merge_and_unload) and take the folder that save_pretrained "
              "writes");
}

// These begin from a base that is not the file's, unless they were converted when they were saved.
Status check_start(const json::object& object, std::string_view where) {
  const std::string start = string_or(object, "init_lora_weights", "");
  for (const std::string_view changing : {"pissa", "olora", "corda", "loftq"}) {
    if (lower_case(start).starts_with(changing)) {
      return refuse(where, fmt::format("'init_lora_weights' is {}, which changes the base", start));
    }
  }
  return {};
}

Result<AdapterConfig> read_adapter_config(const json::object& object, std::string_view where) {
  if (const std::string type = string_or(object, "peft_type", "none"); type != "LORA") {
    return refuse(where, fmt::format("'peft_type' is {}, not LORA", type));
  }
  for (const Refused& one : refused_keys) {
    const json::value* value =
        object.if_contains(json::string_view(one.key.data(), one.key.size()));
    if (value == nullptr || says_nothing(*value)) continue;
    return refuse(where, fmt::format("'{}' asks for {}", one.key, one.what));
  }
  if (auto ok = check_start(object, where); !ok) return propagate(ok);
  auto lora = parse_lora(object);
  if (!lora) return propagate(lora);
  return AdapterConfig{std::move(*lora), string_or(object, "base_model_name_or_path", "")};
}

}  // namespace

Result<AdapterConfig> parse_adapter_config(std::string_view text, std::string_view where) {
  auto object = parse_object(text, where);
  if (!object) return propagate(object);
  auto config = read_adapter_config(*object, where);
  if (!config) config.error().where = std::string(where);
  return config;
}

json::object to_json(const AdapterConfig& config) {
  const LoraSettings& lora = config.lora;
  std::vector<std::string> targets = lora.target_modules;
  std::sort(targets.begin(), targets.end());
  return {
      {"alpha_pattern", json::object()},
      {"auto_mapping", nullptr},
      {"base_model_name_or_path", config.base.empty() ? json::value() : json::value(config.base)},
      {"bias", "none"},
      {"fan_in_fan_out", false},
      {"inference_mode", true},
      {"init_lora_weights", true},
      {"layers_pattern", nullptr},
      {"layers_to_transform", nullptr},
      {"lora_alpha", number_value(lora.alpha)},
      {"lora_dropout", lora.dropout},
      {"modules_to_save", nullptr},
      {"peft_type", "LORA"},
      {"r", lora.r},
      {"rank_pattern", json::object()},
      {"revision", nullptr},
      {"target_modules", json::array(targets.begin(), targets.end())},
      {"task_type", "CAUSAL_LM"},
      {"use_dora", false},
      {"use_rslora", lora.rank_stabilised}};
}

}  // namespace trainward::checkpoint::huggingface
