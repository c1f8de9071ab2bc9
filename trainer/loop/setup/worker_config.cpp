#include "trainer/loop/setup/worker_config.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "common/base/json/strict_object.hpp"
#include "common/os/file.hpp"
#include "common/settings/settle.hpp"
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
  void operator()(const settings::Real& of) { keys.real(key, of.at.of(values), of.range); }
  void operator()(const settings::Flag& of) { keys.flag(key, of.at.of(values)); }
  void operator()(const settings::Word& of) { keys.one_of(key, of.at.of(values), of.words); }
  void operator()(const settings::Choice& of) {
    std::string word(of.words[static_cast<std::size_t>(of.at.of(values))]);
    keys.one_of(key, word, of.words);
    const auto place = std::find(of.words.begin(), of.words.end(), word) - of.words.begin();
    of.at.of(values) = static_cast<settings::RopeScaling>(place);
  }
  void operator()(const settings::Size& of) {
    auto bytes = static_cast<std::int64_t>(of.at.of(values));
    keys.whole(key, bytes, of.range);
    of.at.of(values) = static_cast<std::uint64_t>(bytes);
  }
  void operator()(const settings::Text& of) { keys.text(key, of.at.of(values)); }
  void operator()(const settings::Texts& of) {
    std::vector<std::string>& texts = of.at.of(values);
    const bool may_be_none = texts.empty();
    keys.texts(key, texts);
    if ((texts.empty() && !may_be_none) || texts.size() > of.most) {
      keys.complain(key, fmt::format("has {} texts, expected 1 to {}", texts.size(), of.most));
    }
    for (const std::string& text : texts) {
      const bool known = of.words.empty() ||
                         std::find(of.words.begin(), of.words.end(), text) != of.words.end() ||
                         (texts.size() == 1 && !of.alone.empty() && text == of.alone);
      if (known && !text.empty()) continue;
      keys.complain(key, fmt::format("has '{}'", text),
                    of.words.empty() ? "each must say something"
                                     : fmt::format("known: {}", fmt::join(of.words, ", ")));
    }
  }
  void operator()(const settings::Names& of) {
    const json::object* given = keys.object(key);
    if (given == nullptr) return;
    StrictObject names(*given, std::string(key));
    for (const std::string_view name : of.names) {
      std::string text;
      names.text(name, text);
      if (!text.empty()) of.at.of(values)[std::string(name)] = text;
    }
    if (const auto ok = names.finish(); !ok) {
      keys.complain(key, fmt::format("{}: {}", ok.error().where, ok.error().what), ok.error().hint);
    }
  }
  void operator()(const settings::Variables& of) {
    const json::object* given = keys.object(key);
    if (given == nullptr) return;
    if (given->size() > of.most) {
      keys.complain(
          key, fmt::format("has {} variables, at most {} can be given", given->size(), of.most));
    }
    for (const auto& [name, value] : *given) {
      const std::string text(name);
      if (const auto problem = settings::variable_problem(text); !problem.empty()) {
        keys.complain(key, problem);
      } else if (!settings::is_variable(value)) {
        keys.complain(key, fmt::format("'{}' is not a text, number, true or false", text));
      }
      of.at.of(values)[text] = value;
    }
  }
  void operator()(const settings::Place& of) { keys.text(key, of.at.of(values)); }
  void operator()(const settings::Path& of) {
    const bool needed = !of.at.of(values).empty();
    keys.text(key, of.at.of(values));
    if (needed && of.at.of(values).empty()) {
      keys.complain(key, "is empty", fmt::format("{}, or {}", of.word, of.file));
    }
  }
  void operator()(const settings::Paths& of) {
    keys.texts(key, of.at.of(values));
    if (!of.needed || !of.at.of(values).empty()) return;
    keys.complain(key, "names no file or folder", "a list of at least one path");
  }
  void operator()(const settings::Mesh& of) {
    std::vector<std::int64_t> mesh{1, 1};
    keys.wholes(key, mesh, {1, of.most});
    if (mesh.size() == 2 && settings::mesh_fits(of, mesh[0], mesh[1])) {
      of.rows.of(values) = mesh[0];
      of.columns.of(values) = mesh[1];
    } else {
      keys.complain(key, fmt::format("is [{}]", fmt::join(mesh, ", ")),
                    fmt::format("[rows, columns] of at most {} devices, such as [2, 4]", of.most));
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

// A section or a map, with the maps inside it.
Status read_map(std::string_view section, const json::object& object,
                settings::WorkerSettings& values, std::vector<pjrt::ClientOption>& options) {
  StrictObject keys(object, std::string(section));
  for (const settings::Setting& setting : settings::worker_settings) {
    if (setting.section != section) continue;
    std::visit(Reading{keys, setting.key, values, options}, setting.type);
  }
  for (const settings::Map& map : settings::maps) {
    if (map.parent() != section) continue;
    const json::object* inside = keys.object(map.key());
    if (inside == nullptr) continue;
    map.given(values);
    if (auto ok = read_map(map.section, *inside, values, options); !ok) return ok;
  }
  const auto given = [&](std::string_view key) { return keys.has(key); };
  std::vector<settings::Problem> problems;
  if (section == settings::device) problems = settings::settle_device(values, given);
  if (section == settings::training) problems = settings::settle_training(values, given);
  for (settings::Problem& problem : problems) {
    keys.complain(problem.key, std::move(problem.what), std::move(problem.cure));
  }
  return keys.finish();
}

// The trainer's own types for what the table has as words.
Status take(const settings::WorkerSettings& values, WorkerConfig& config) {
  // Each type takes its part of them.
  const settings::RunSettings& of_run = values;
  const settings::StepSettings& of_step = values;
  static_cast<settings::RunSettings&>(config) = of_run;
  TrainingSpec& training = config.training;
  static_cast<settings::StepSettings&>(training) = of_step;
  training.columns = config.columns_of_weights();
  auto model = preset(values.model);
  if (!model) return propagate(model);
  training.model = *model;
  training.model.tied = values.tie_weights || training.model.tied;
  using Shape = optim::Schedule::Shape;
  training.schedule = {Shape::constant, values.warmup_steps, values.steps,
                       values.final_learning_rate_share, values.hold_steps};
  if (values.schedule == "cosine") training.schedule.shape = Shape::cosine;
  if (values.schedule == "linear") training.schedule.shape = Shape::linear;
  if (values.precision == "bf16") training.precision = graph::Precision::bf16;
  config.data_format = data_format(values.data_format).value_or(DataFormat::automatic);
  if (values.placement == "device") config.placement = Placement::device;
  if (values.attention == "plain") config.attention = AttentionUse::plain;
  if (values.attention == "fused") config.attention = AttentionUse::fused;
  return {};
}

}  // namespace

void keep_edition(WorkerConfig& config, int edition) {
  config.edition = edition;
  config.training.schedule.from_one = edition == 1;
  if (config.configured) config.configured->schedule.from_one = edition == 1;
}

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
    if (auto ok = read_map(section, *given, values, config.options); !ok) return propagate(ok);
  }
  if (auto ok = take(values, config); !ok) return propagate(ok);
  config.digest = run_digest(config, ByteTokenizer().digest());
  return config;
}

Result<WorkerConfig> load_worker_config(const std::string& file) {
  constexpr std::size_t max_bytes = std::size_t{1} << 20;
  auto text = file == "-" ? read_stream("/dev/stdin", max_bytes) : read_stream(file, max_bytes);
  if (!text) return propagate(text);
  auto parsed = parse_json(*text, file);
  if (!parsed && (file.ends_with(".yaml") || file.ends_with(".yml"))) {
    return fail(
        ErrorKind::usage, "is YAML, and the worker reads the JSON that comes of it", file,
        fmt::format("trainwardctl config worker {} | trainward-worker data - (or plan, train, …)",
                    file));
  }
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
  const std::int64_t model = config.model_vocabulary;
  if (model > 0 && model < std::max(config.vocabulary, vocabulary)) {
    return fail(
        ErrorKind::usage,
        fmt::format("has a vocab_size of {}, and the tokenizer of the data {} ids", model,
                    std::max(config.vocabulary, vocabulary)),
        config.base_model.empty() ? "the model's config.json" : config.base_model + "/config.json",
        "name the tokenizer.json that belongs to the model");
  }
  config.training.model.vocabulary = model > 0 ? model : std::max(config.vocabulary, vocabulary);
  config.digest = run_digest(config, tokenizer_digest);
  return {};
}

}  // namespace trainward::trainer
