#include "trainer/loop/setup/run_digest.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "common/base/digest.hpp"
#include "common/base/text.hpp"
#include "common/settings/worker_settings.hpp"
#include "trainer/model/architecture.hpp"
#include "trainer/tokenizer/byte_tokenizer.hpp"

namespace trainward::trainer {
namespace {

// What is really used, which the processor may have changed since it was read; how a plan cuts the
// work is of one attempt, not of the run.
settings::WorkerSettings used(const WorkerConfig& config) {
  const settings::StepSettings& of_step = config.training;
  const settings::RunSettings& of_run = config;
  settings::WorkerSettings values{of_step, of_run};
  values.warmup_steps = config.training.schedule.warmup_steps;
  values.hold_steps = config.training.schedule.hold_steps;
  values.tie_weights = config.training.model.tied;
  if (config.configured) {
    values.batch_size = config.configured->batch_size;
    values.block_size = config.configured->block_size;
    values.accumulation = config.configured->accumulation;
    values.recompute = config.configured->recompute;
  }
  return values;
}

// Lists and maps of fine-tuning, where there are any; lengths, so that no text is mistaken for two.
std::string tuning_lines(const WorkerConfig& config) {
  std::string text;
  if (config.training.lora_rank > 0) {
    std::vector<std::string> targets = config.lora_targets;
    std::sort(targets.begin(), targets.end());
    text += fmt::format("lora on {}\n", fmt::join(targets, " "));
  }
  for (const auto& [ours, theirs] : config.columns) {
    text += fmt::format("column {} {} {}\n", ours, theirs.size(), theirs);
  }
  return text;
}

// What lines begin with that are no setting's label, and the keys that decide them.
struct Composed {
  std::string_view label;
  std::string_view key;
};
constexpr std::array composed{
    Composed{"model", "training_config.model"},
    Composed{"architecture", "training_config.model"},
    Composed{"config", "training_config.llama or the model's config.json"},
    Composed{"base", "training_config.base_model"},
    Composed{"positions", "training_config.model"},
    Composed{"bf16", "training_config.precision"},
    Composed{"cosine over",
             "training_config.schedule, steps, num_epochs or final_learning_rate_share"},
    Composed{"linear over",
             "training_config.schedule, steps, num_epochs or final_learning_rate_share"},
    Composed{"lora on", "training_config.lora.target_modules"},
    Composed{"column", "training_config.column_mapping"},
    Composed{"held out", "training_config.evaluation_blocks"},
    Composed{"data", "training_config.data"},
    Composed{"format", "training_config.data_format"},
    Composed{"tokenizer", "the tokenizer, training_config.prompt_format or the chat template"},
};

bool is_labelled(std::string_view line, std::string_view label) {
  return line.starts_with(label) && (line.size() == label.size() || line[label.size()] == ' ');
}

// A line as the key that decides it, and its value.
struct Named {
  std::string key;
  std::string value;
};

// The longest label that fits: "lora rank 8" is no line of "lora".
Named named(std::string_view line) {
  std::string_view label;
  std::string key;
  const auto look_at = [&](std::string_view candidate, auto name) {
    if (candidate.size() <= label.size() || !is_labelled(line, candidate)) return;
    label = candidate;
    key = name();
  };
  for (const settings::Setting& setting : settings::worker_settings) {
    if (setting.label.empty()) continue;
    look_at(setting.label, [&] { return fmt::format("{}.{}", setting.section, setting.key); });
  }
  for (const Composed& each : composed) look_at(each.label, [&] { return std::string(each.key); });
  std::string_view value = trim(line.substr(label.size()));
  // Behind the length of its path; digests and whole configurations say nothing to people.
  if (label == "data") value = trim(value.substr(std::min(value.find(' '), value.size())));
  const bool opaque =
      label == "config" || label == "base" || label == "tokenizer" || label == "model";
  return {std::move(key), opaque ? "" : value.empty() ? "true" : std::string(value)};
}

// The values of each key whose lines are not in the other text.
std::map<std::string, std::vector<std::string>> only_in(std::string_view text,
                                                        std::string_view other) {
  const std::string there = fmt::format("\n{}", other);
  std::map<std::string, std::vector<std::string>> found;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (there.find(fmt::format("\n{}\n", line)) != std::string::npos) continue;
    Named of = named(line);
    if (!of.key.empty()) found[of.key].push_back(std::move(of.value));
  }
  return found;
}

}  // namespace

// One line a value: a list of paths cannot be mistaken for another.
std::string digest_text(const WorkerConfig& config, const std::string& tokenizer_digest) {
  const TrainingSpec& t = config.training;
  std::string text = fmt::format("trainward weights 1\nmodel {} {} {} {} {}\n", t.model.width,
                                 t.model.layers, t.model.heads, t.model.rank, t.model.vocabulary);
  // What AGILLM-3 has none of is added where it is there, so that old digests stay what they are.
  if (t.model.architecture != 0) {
    text += fmt::format("architecture {}\n", architecture_of(t.model).name());
  }
  if (t.model.own.used()) {
    text +=
        fmt::format("config {}\n", json::serialize(architecture_of(t.model).config_of(t.model)));
  }
  if (!config.base_digest.empty()) text += fmt::format("base {}\n", config.base_digest);
  if (t.model.positions > 0) text += fmt::format("positions {}\n", t.model.positions);
  text += settings::digest_lines(used(config));
  if (t.precision == graph::Precision::bf16) text += "bf16\n";
  if (t.schedule.shape != optim::Schedule::Shape::constant) {
    const bool cosine = t.schedule.shape == optim::Schedule::Shape::cosine;
    text += fmt::format("{} over {} steps to {}{}\n", cosine ? "cosine" : "linear",
                        t.schedule.total_steps, t.schedule.final_share,
                        t.schedule.from_one ? "" : ", from 0");
  }
  text += tuning_lines(config);
  if (config.held_out() > 0) text += fmt::format("held out {}\n", config.held_out());
  for (const std::string& path : config.data) {
    text += fmt::format("data {} {}\n", path.size(), path);
  }
  // Runs on bytes keep the digest that they had before there was anything else.
  // `text` is what every run was before JSONL was known; what it changes shows in the data's
  // digest.
  if (config.data_format == DataFormat::u16 || config.data_format == DataFormat::u32) {
    text += fmt::format("format {}\n", static_cast<int>(config.data_format));
  }
  if (tokenizer_digest != ByteTokenizer().digest()) {
    text += fmt::format("tokenizer {}\n", tokenizer_digest);
  }
  return text;
}

std::string run_digest(const WorkerConfig& config, const std::string& tokenizer_digest) {
  return sha256_hex(digest_text(config, tokenizer_digest));
}

std::vector<std::string> changed_settings(std::string_view before, std::string_view now) {
  const auto was = only_in(before, now);
  const auto is = only_in(now, before);
  std::vector<std::string> changes;
  const auto values = [](const std::vector<std::string>& all) {
    return fmt::format("{}", fmt::join(all, ", "));
  };
  for (const auto& [key, old] : was) {
    const auto found = is.find(key);
    if (values(old).empty()) {
      changes.push_back(key);
    } else if (found == is.end()) {
      changes.push_back(fmt::format("{} was {}", key, values(old)));
    } else {
      changes.push_back(
          fmt::format("{} was {} and is {}", key, values(old), values(found->second)));
    }
  }
  for (const auto& [key, fresh] : is) {
    if (was.contains(key)) continue;
    changes.push_back(values(fresh).empty() ? key
                                            : fmt::format("{} is {} now", key, values(fresh)));
  }
  return changes;
}

}  // namespace trainward::trainer
