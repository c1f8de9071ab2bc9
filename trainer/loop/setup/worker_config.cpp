#include "trainer/loop/setup/worker_config.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "common/base/digest.hpp"
#include "common/base/strict_object.hpp"
#include "common/os/json_file.hpp"
#include "common/settings/worker_settings.hpp"
#include "trainer/model/architecture.hpp"
#include "trainer/model/model_spec.hpp"
#include "trainer/tokenizer/byte_tokenizer.hpp"

namespace trainward::trainer {
namespace {

std::optional<pjrt::OptionValue> option_value(const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_bool()) return value.get_bool();
  if (value.is_int64()) return value.get_int64();
  if (value.is_double()) return static_cast<float>(value.get_double());
  if (!value.is_array()) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const json::value& item : value.get_array()) {
    if (!item.is_int64()) return std::nullopt;
    numbers.push_back(item.get_int64());
  }
  return numbers;
}

// A type's own reading; all of them have the same arguments, so that std::visit finds it.
struct Reading {
  StrictObject& keys;
  std::string_view key;
  settings::WorkerSettings& values;
  std::vector<pjrt::ClientOption>& options;

  void operator()(const settings::Whole& of) {
    std::int64_t value = get(values, of);
    keys.whole(key, value, of.range);
    set(values, of, value);
  }
  void operator()(const settings::Real& of) { keys.real(key, values.*of.at, of.range); }
  void operator()(const settings::Flag& of) { keys.flag(key, values.*of.at); }
  void operator()(const settings::Word& of) { keys.one_of(key, values.*of.at, of.words); }
  void operator()(const settings::Size& of) {
    auto bytes = static_cast<std::int64_t>(values.*of.at);
    keys.whole(key, bytes, of.range);
    values.*of.at = static_cast<std::uint64_t>(bytes);
  }
  void operator()(const settings::Text& of) { keys.text(key, values.*of.at); }
  void operator()(const settings::Path& of) {
    const bool needed = !(values.*of.at).empty();
    keys.text(key, values.*of.at);
    if (needed && (values.*of.at).empty()) {
      keys.complain(key, "is empty", fmt::format("{}, or {}", of.word, of.file));
    }
  }
  void operator()(const settings::Paths& of) {
    keys.texts(key, values.*of.at);
    if (!(values.*of.at).empty()) return;
    keys.complain(key, "names no file or folder", "a list of at least one path");
  }
  void operator()(const settings::Mesh& of) {
    std::vector<std::int64_t> mesh{1, 1};
    keys.wholes(key, mesh, {1, of.most});
    if (mesh.size() == 2 && mesh[0] == 1) {
      values.*of.at = mesh[1];
    } else {
      keys.complain(key, fmt::format("is [{}]", fmt::join(mesh, ", ")),
                    "[1, N]: N processes share each batch; the model itself is not split");
    }
  }
  void operator()(const settings::Options&) {
    const json::object* given = keys.object(key);
    if (given == nullptr) return;
    for (const auto& [name, value] : *given) {
      if (auto known = option_value(value)) {
        options.push_back({std::string(name), std::move(*known)});
      } else {
        keys.complain(
            key, fmt::format("'{}' is not a text, number, true, false or list of whole numbers",
                             std::string(name)));
      }
    }
  }
};

// What the device's settings say together.
void settle_device(StrictObject& keys, settings::WorkerSettings& values) {
  if (!values.plugin.empty() && !keys.has("device")) values.device = plugin_device;
  if (values.device == plugin_device && values.plugin.empty()) {
    keys.complain("plugin", "is missing", "the PJRT plugin of the device, or 'sim_n300'");
  }
  if (values.ranks > 1 && !values.enable_ddp) {
    keys.complain("enable_ddp", "is false, and mesh_shape asks for more than one process",
                  "set enable_ddp: true");
  }
}

Status read_section(std::string_view section, const json::object& object,
                    settings::WorkerSettings& values, std::vector<pjrt::ClientOption>& options) {
  StrictObject keys(object, std::string(section));
  for (const settings::Setting& setting : settings::worker_settings) {
    if (setting.section != section) continue;
    std::visit(Reading{keys, setting.key, values, options}, setting.type);
  }
  if (section == settings::device) settle_device(keys, values);
  return keys.finish();
}

// The trainer's own types for what the table has as words.
Status take(const settings::WorkerSettings& values, WorkerConfig& config) {
  static_cast<settings::RunSettings&>(config) = values;
  TrainingSpec& training = config.training;
  static_cast<settings::StepSettings&>(training) = values;
  auto model = preset(values.model);
  if (!model) return propagate(model);
  training.model = *model;
  training.model.tied = values.tie_weights || training.model.tied;
  training.schedule = {values.schedule == "cosine" ? optim::Schedule::Shape::cosine
                                                   : optim::Schedule::Shape::constant,
                       values.warmup_steps, values.steps, values.final_learning_rate_share};
  if (values.precision == "bf16") training.precision = graph::Precision::bf16;
  config.data_format = data_format(values.data_format).value_or(DataFormat::automatic);
  if (values.placement == "device") config.placement = Placement::device;
  if (values.attention == "plain") config.attention = AttentionUse::plain;
  if (values.attention == "fused") config.attention = AttentionUse::fused;
  return {};
}

// What is really used, which a plan or the processor may have changed since it was read.
settings::WorkerSettings used(const WorkerConfig& config) {
  settings::WorkerSettings values{config.training, config};
  values.warmup_steps = config.training.schedule.warmup_steps;
  values.tie_weights = config.training.model.tied;
  return values;
}

// One line a value: a list of paths cannot be mistaken for another.
std::string digest_of(const WorkerConfig& config, const std::string& tokenizer_digest) {
  const TrainingSpec& t = config.training;
  std::string text = fmt::format("trainward weights 1\nmodel {} {} {} {} {}\n", t.model.width,
                                 t.model.layers, t.model.heads, t.model.rank, t.model.vocabulary);
  // What AGILLM-3 has none of is added where it is there, so that old digests stay what they are.
  if (t.model.architecture != 0) {
    text += fmt::format("architecture {}\n", architecture_of(t.model).name());
  }
  if (t.model.positions > 0) text += fmt::format("positions {}\n", t.model.positions);
  text += settings::digest_lines(used(config));
  if (t.precision == graph::Precision::bf16) text += "bf16\n";
  if (t.schedule.shape == optim::Schedule::Shape::cosine) {
    text +=
        fmt::format("cosine over {} steps to {}\n", t.schedule.total_steps, t.schedule.final_share);
  }
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
  return sha256_hex(text);
}

}  // namespace

Result<WorkerConfig> read_worker_config(const json::object& object) {
  WorkerConfig config;
  settings::WorkerSettings values;
  StrictObject keys(object, "");
  (void)keys.object(settings::device);
  (void)keys.object(settings::logging);
  if (keys.object(settings::training) == nullptr) {
    keys.complain(settings::training, "is missing", "it holds model, steps and data");
  }
  if (auto ok = keys.finish(); !ok) return propagate(ok);
  for (const std::string_view section : settings::sections) {
    const json::object* given = keys.object(section);
    if (given == nullptr) continue;
    if (auto ok = read_section(section, *given, values, config.options); !ok) return propagate(ok);
  }
  if (auto ok = take(values, config); !ok) return propagate(ok);
  config.digest = digest_of(config, ByteTokenizer().digest());
  return config;
}

Result<WorkerConfig> load_worker_config(const std::string& file) {
  constexpr std::size_t max_bytes = std::size_t{1} << 20;
  auto parsed = read_json_file(file, max_bytes);
  if (!parsed) return propagate(parsed);
  if (!parsed->is_object()) return fail(ErrorKind::usage, "is not a JSON object", file);
  auto config = read_worker_config(parsed->get_object());
  if (!config) config.error().where = fmt::format("{}: {}", file, config.error().where);
  return config;
}

Status fit_to_data(WorkerConfig& config, std::int64_t vocabulary,
                   const std::string& tokenizer_digest) {
  if (config.vocabulary > 0 && config.vocabulary < vocabulary) {
    return fail(ErrorKind::usage,
                fmt::format("is {}, and the tokenizer of the data has {} ids", config.vocabulary,
                            vocabulary),
                "training_config.vocabulary",
                fmt::format("make it {} or more, or leave it out", vocabulary));
  }
  config.training.model.vocabulary = std::max(config.vocabulary, vocabulary);
  config.digest = digest_of(config, tokenizer_digest);
  return {};
}

}  // namespace trainward::trainer
