// What hangs on more than one key of a configuration from elsewhere.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <utility>

#include "common/base/text.hpp"
#include "common/os/json_file.hpp"
#include "common/yaml/scalar.hpp"
#include "supervisor/config/elsewhere/setting_entry.hpp"

namespace trainward::config::elsewhere {
namespace {

using yaml::Node;

constexpr std::string_view base_model = "training_config.base_model";
constexpr std::string_view llama = "training_config.llama";
constexpr std::string_view schedule = "training_config.schedule";
constexpr std::string_view rate = "training_config.learning_rate";
constexpr std::string_view clip = "training_config.gradient_clip";

std::optional<std::filesystem::path> existing(const Entry& entry, const Node& node) {
  if (node.kind != Node::Kind::scalar || node.text.empty()) return std::nullopt;
  Folders quiet = entry.folders();
  quiet.notes = nullptr;
  auto path = quiet.resolve(node);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  return path;
}

std::optional<double> number(const Node* node) {
  if (node == nullptr || node->kind != Node::Kind::scalar || node->quoted) return std::nullopt;
  return yaml::parse_number(node->text);
}

// Names of models and paths to them: one that is a folder here is what is trained further.
void settle_base_model(Entry& entry) {
  constexpr std::array<std::string_view, 4> keys{"weights_path", "model_path", "model_name_or_path",
                                                 "model_name"};
  for (const std::string_view key : keys) {
    auto said = entry.said(key);
    if (!said || is_empty_or_false(said->member.value)) continue;
    Node& value = said->member.value;
    if (entry.find(base_model) != nullptr) {
      entry.note(said->where, said->member.mark, "is not read: base_model says what is trained");
    } else if (existing(entry, value)) {
      entry.put(base_model, said->where, said->member.mark, std::move(value));
    } else {
      entry.report(said->where, value.mark,
                   fmt::format("{} is no folder of this machine, and nothing is downloaded; name "
                               "the model's folder: base_model: FOLDER (hf download NAME "
                               "--local-dir FOLDER)",
                               describe(value)));
    }
  }
}

// ---- a model from scratch ----

void read_sizes(Entry& entry, Entry::Said said, bool gpt2) {
  if (entry.find(base_model) != nullptr) {
    return entry.note(said.where, said.member.mark,
                      "is not read: the config.json of base_model says it");
  }
  if (gpt2) {
    return entry.report(said.where, said.member.mark,
                        "sizes of a GPT-2 are presets here: model: gpt2_nano, gpt2, …");
  }
  entry.put_map(llama, said.member.mark);
  entry.read_inside(said.where, "transformer_config.", std::move(said.member.value));
}

// tt-train's file of sizes as a map: one that holds transformer_config, or is one.
void open_model_config(Entry& entry, Entry::Said said) {
  Node& map = said.member.value;
  if (map.find("transformer_config") == nullptr) {
    said.member.key = "transformer_config";
    entry.keep("transformer_config", std::move(said));
    return;
  }
  entry.read_inside(said.where, "", std::move(map));
}

void settle_model_config(Entry& entry) {
  auto said = entry.said("model_config");
  if (!said) return;
  Node& value = said->member.value;
  if (value.kind == Node::Kind::map) return open_model_config(entry, std::move(*said));
  const bool is_sizes = value.text.ends_with(".yaml") || value.text.ends_with(".yml");
  if (!is_sizes) {
    return entry.put("training_config.model_config", said->where, said->member.mark,
                     std::move(value));
  }
  if (entry.find(base_model) != nullptr) {
    return entry.note(said->where, said->member.mark,
                      "is not read: the config.json of base_model says it");
  }
  entry.report(said->where, value.mark,
               fmt::format("{} is not read: to train a model further, name its folder: "
                           "base_model: FOLDER; to train one from scratch, put the file's "
                           "transformer_config here",
                           describe(value)));
}

std::string family_of(const Entry& entry) {
  const auto folder = existing(entry, *entry.find(base_model));
  constexpr std::size_t most = std::size_t{1} << 20;
  auto config = read_json_file((folder ? *folder : "") / "config.json", most);
  if (!config || !config->is_object()) return "";
  return std::string(string_or(config->get_object(), "model_type", ""));
}

void settle_model_type(Entry& entry, const Entry::Said& said) {
  const Node& value = said.member.value;
  const std::string family = lower_case(value.text);
  if (entry.find(base_model) != nullptr) {
    const std::string found = family_of(entry);
    if (found.empty() || found == family) return;
    return entry.report(
        said.where, value.mark,
        fmt::format("is {}, and the model in base_model is a {}", describe(value), found));
  }
  const Node* preset = entry.find("training_config.model");
  const bool gpt2 = preset != nullptr && preset->text.starts_with("gpt2");
  const bool described =
      entry.find(llama) != nullptr || entry.find("training_config.model_config") != nullptr;
  if ((family == "gpt2" && gpt2) || (family == "llama" && described)) return;
  entry.report(said.where, value.mark,
               fmt::format("{} is a family, and nothing says which model: base_model: FOLDER, "
                           "model: {}",
                           describe(value),
                           family == "gpt2" ? "gpt2_nano, gpt2, …" : "{llama: {hidden: …}}"));
}

void settle_rope(Entry& entry) {
  const std::string scaling = fmt::format("{}.rope_scaling", llama);
  const Node* factor = entry.find(scaling + ".factor");
  const bool theirs = entry.called(scaling + ".factor").ends_with("scaling_factor");
  if (!theirs || factor == nullptr || entry.find(scaling + ".type") != nullptr) return;
  const Node like = *factor;
  if (number(&like) == 0.0) {  // tt-train's word for none
    (void)entry.take(scaling);
  } else {
    entry.put(scaling + ".type", entry.called(scaling + ".factor"), like.mark,
              plain("llama3", like));
  }
}

void settle_model(Entry& entry) {
  settle_base_model(entry);
  settle_model_config(entry);
  settle_base_model(entry);  // that file may name one, too
  auto type = entry.said("model_type");
  if (!type) type = entry.said("transformer_config.model_type");
  const bool gpt2 = type && lower_case(type->member.value.text) == "gpt2";
  auto sizes = entry.said("transformer_config");
  const bool refused = sizes && gpt2;
  if (sizes) read_sizes(entry, std::move(*sizes), gpt2);
  if (type && !refused) settle_model_type(entry, *type);
  settle_rope(entry);
  const std::string positions = fmt::format("{}.max_position_embeddings", llama);
  if (const Node* longest = entry.find(positions);
      longest != nullptr && entry.find("training_config.block_size") == nullptr &&
      entry.called(positions).ends_with("max_sequence_length")) {
    const Node value = *longest;
    entry.put("training_config.block_size", entry.called(positions), value.mark, value);
  }
}

void settle_training_type(Entry& entry) {
  constexpr std::string_view lora = "training_config.lora";
  const auto said = entry.said("training_type");
  if (!said) return;
  const Node& value = said->member.value;
  if (value.text == "lora") return entry.put_map(lora, said->member.mark);
  if (value.text != "full") {
    return entry.report(said->where, value.mark, "expected lora or full, found " + describe(value));
  }
  if (const auto unused = entry.take(lora)) {
    entry.note(said->where, said->member.mark, "is full, so what is said of LoRA is not read");
  }
}

// ---- rates ----

void settle_scheduler(Entry& entry) {
  auto said = entry.said("scheduler_config");
  if (!said) return;
  const Node* shape = entry.find(schedule);
  if (shape != nullptr && shape->text == "constant") {
    return entry.note(said->where, said->member.mark,
                      "does nothing here: the rate is constant, as scheduler_type says");
  }
  const yaml::Mark mark = said->member.mark;
  if (shape == nullptr) entry.put(schedule, said->where, mark, plain("linear", said->member.value));
  entry.read_inside(said->where, "scheduler_config.", std::move(said->member.value));
}

std::optional<Entry::Said> either(Entry& entry, std::string_view key) {
  auto said = entry.said(key);
  return said ? std::move(said) : entry.said(fmt::format("scheduler_config.{}", key));
}

void settle_rates(Entry& entry) {
  if (auto highest = either(entry, "max_lr")) {
    const bool same =
        number(entry.find(rate)) && number(entry.find(rate)) == number(&highest->member.value);
    if (!same) {
      entry.put(rate, highest->where, highest->member.mark, std::move(highest->member.value));
    }
  }
  auto lowest = either(entry, "min_lr");
  if (!lowest) return;
  const auto low = number(&lowest->member.value);
  const auto high = number(entry.find(rate));
  if (!low || !high || *low < 0 || *high <= 0 || *low > *high) {
    return entry.report(lowest->where, lowest->member.value.mark,
                        "expected a rate from 0 to learning_rate, which must be given too; found " +
                            describe(lowest->member.value));
  }
  entry.put("training_config.final_learning_rate_share", lowest->where, lowest->member.mark,
            plain(fmt::format("{}", *low / *high), lowest->member.value));
}

// Hugging Face's end at nothing.
void settle_end_of_schedule(Entry& entry) {
  constexpr std::string_view share = "training_config.final_learning_rate_share";
  const std::string called = entry.called(schedule);
  const bool theirs = called.ends_with("lr_scheduler_type") || called.ends_with("lr_scheduler");
  if (!theirs || entry.find(share) != nullptr) return;
  const Node like = *entry.find(schedule);
  entry.put(share, called, like.mark, plain("0", like));
}

void settle_clip(Entry& entry) {
  const auto said = entry.said("use_clip_grad_norm");
  if (!said) return;
  const Node& value = said->member.value;
  const auto used =
      value.kind == Node::Kind::scalar ? yaml::parse_boolean(value.text) : std::nullopt;
  if (!used) {
    return entry.report(said->where, value.mark,
                        "expected true or false, found " + describe(value));
  }
  if (*used) return;
  (void)entry.take(clip);
  entry.put(clip, said->where, said->member.mark, plain("0", value));
}

// ---- data and device ----

void settle_data(Entry& entry) {
  if (auto said = entry.said("dataset_id"); said && !is_empty_or_false(said->member.value)) {
    if (entry.find("training_config.data") != nullptr) {
      entry.note(said->where, said->member.mark, "is not read: data says what is trained on");
    } else if (existing(entry, said->member.value)) {
      entry.put("training_config.data", said->where, said->member.mark,
                std::move(said->member.value));
    } else {
      entry.report(said->where, said->member.value.mark,
                   fmt::format("{} is no file or folder of this machine, and nothing is "
                               "downloaded; name the files: data: [train.jsonl]",
                               describe(said->member.value)));
    }
  }
  const auto type = entry.said("tokenizer_type");
  if (!type || is_empty_or_false(type->member.value)) return;
  const std::string& word = type->member.value.text;
  const bool found =
      entry.find("training_config.tokenizer") != nullptr || entry.find(base_model) != nullptr;
  if (word == "byte" || (word == "bpe" && found)) return;
  entry.report(type->where, type->member.value.mark,
               word == "bpe"
                   ? "bpe needs a tokenizer.json: tokenizer: FILE, or base_model: FOLDER, "
                     "which has one"
                   : fmt::format("{} is not read here: leave it out, which is bytes, or "
                                 "name a tokenizer.json: tokenizer: FILE",
                                 describe(type->member.value)));
}

void settle_device(Entry& entry) {
  const auto said = entry.said("use_tt");
  if (!said || is_empty_or_false(said->member.value)) return;
  if (entry.find("device_config.plugin") != nullptr) return;
  entry.report(said->where, said->member.value.mark,
               "which device is used says its plugin: device_config: {plugin: FILE}");
}

}  // namespace

void settle(Entry& entry) {
  settle_model(entry);
  settle_training_type(entry);
  settle_scheduler(entry);
  settle_rates(entry);
  settle_end_of_schedule(entry);
  settle_clip(entry);
  settle_data(entry);
  settle_device(entry);
}

}  // namespace trainward::config::elsewhere
