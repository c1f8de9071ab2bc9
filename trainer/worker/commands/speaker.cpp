#include "trainer/worker/commands/speaker.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <utility>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/huggingface/model/folder_path.hpp"
#include "checkpoint/huggingface/model/unusable.hpp"
#include "common/base/text.hpp"

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;
namespace hf = checkpoint::huggingface;

bool holds_a_model(const fs::path& folder) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{checkpoint::name::manifest, "config.json",
                                              "adapter_config.json"},
      [&](std::string_view name) { return hf::is_there(folder / name); });
}

// What is meant by a path: itself, or the newest checkpoint in it that is whole.
Result<fs::path> find_model(const std::string& named, const CommandPorts& ports) {
  const fs::path path = hf::folder_path(named);
  std::error_code ignored;
  if (holds_a_model(path)) return path;
  if (!fs::is_directory(path, ignored)) {
    if (auto ok = hf::check_folder(path); !ok) return propagate(ok);
  }
  auto present = checkpoint::list(path);
  if (!present) return propagate(present);
  // Newest first. Nothing is renamed here: that is for the run they belong to.
  for (const checkpoint::Summary& candidate : *present) {
    auto whole = checkpoint::verify(candidate.path);
    if (whole) return candidate.path;
    ports.err(fmt::format("trainward-worker: not used: {}\n", clean(whole.error().message())));
  }
  if (!present->empty()) {
    return fail(ErrorKind::usage, "holds no checkpoint that is whole", path.string());
  }
  return fail(
      ErrorKind::usage, "holds no checkpoint, and no model with a config.json", path.string(),
      "name a checkpoint such as step-00000300, the folder they are in, or a model's folder");
}

// The configuration's keys as the options they are here.
Error as_options(Error error) {
  struct Name {
    std::string_view key, option;
  };
  static constexpr Name names[] = {{"training_config.tokenizer", "--tokenizer"},
                                   {"training_config.end_of_text", "--end-of-text"},
                                   {"training_config.prompt_format", "--format"},
                                   {"training_config.base_model", "--model"}};
  for (const Name& name : names) {
    if (!error.where.starts_with(name.key)) continue;
    error.where.replace(0, name.key.size(), name.option);
  }
  return error;
}

// The first template: adapters that were taught another than their base's have it beside them.
Result<std::string> template_in(const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    auto prompts = read_folder_prompts(folder);
    if (!prompts) return propagate(prompts);
    if (!prompts->chat_template.empty()) return std::move(prompts->chat_template);
  }
  return std::string();
}

// The first folder with a tokenizer, or the first at all.
fs::path folder_of_words(const ModelSource& source) {
  const auto& folders = source.folders();
  const auto found = std::ranges::find_if(
      folders, [](const fs::path& folder) { return hf::is_there(folder / "tokenizer.json"); });
  if (found != folders.end()) return *found;
  return folders.empty() ? fs::path() : folders.front();
}

// As in training.
Result<Prompting> words_for_turns(const SpeakerOptions& options, const fs::path& folder,
                                  const ModelSource& source) {
  WorkerConfig config;
  keep_edition(config, source.edition());
  // Bytes that are asked for have no words of a folder's.
  if (options.tokenizer != "byte") config.base_model = folder.string();
  config.tokenizer = options.tokenizer.empty() ? "byte" : options.tokenizer;
  config.end_of_text = options.end_of_text;
  const std::string& format = options.format.empty() ? source.prompt_format() : options.format;
  if (!format.empty()) config.prompt_format = format;
  if (config.base_model.empty()) return open_prompting(config);
  auto chat_template = template_in(source.folders());
  if (!chat_template) {
    chat_template.error().kind = ErrorKind::usage;  // the user has to repair the file
    return propagate(chat_template);
  }
  const auto& own = settings::words::own_formats;
  if (!chat_template->empty() && std::ranges::find(own, config.prompt_format) != own.end()) {
    for (const auto& [name, value] : source.template_variables()) {
      config.template_variables[std::string(name)] = value;
    }
  }
  return open_prompting(config, *chat_template);
}

// Without a form: an unreadable one only matters to users who ask for it.
Result<Prompting> words_for_text(const SpeakerOptions& options, const fs::path& folder) {
  FolderPrompts prompts;
  if (!folder.empty()) {
    auto read = read_folder_prompts(folder);
    if (!read) return propagate(read);
    prompts = *std::move(read);
  }
  std::string name = options.tokenizer;
  if (name.empty()) name = folder.empty() ? "byte" : (folder / "tokenizer.json").string();
  const bool as_folder_says = options.end_of_text.empty() && name != "byte";
  auto tokenizer = open_tokenizer(name, as_folder_says ? prompts.tokens.eos : options.end_of_text);
  if (!tokenizer) {
    Error error = std::move(tokenizer).error();
    error.kind = ErrorKind::usage;  // the user has to repair the file or name another
    if (options.tokenizer.empty() && error.hint.empty()) {
      error.hint = "name the tokenizer that belongs to the model with --tokenizer";
    }
    error.where = error.where == "end_of_text" ? "--end-of-text" : "--tokenizer: " + error.where;
    return tl::unexpected(std::move(error));
  }
  Prompting words;
  words.tokenizer = *std::move(tokenizer);
  words.rules = {words.tokenizer->before_text(), {words.tokenizer->end_of_text()}, false};
  return words;
}

}  // namespace

Result<std::unique_ptr<Speaker>> Speaker::open(const SpeakerOptions& options, bool asked_in_turns,
                                               const CommandPorts& ports) {
  std::optional<fs::path> base;
  if (!options.base.empty()) base = hf::folder_path(options.base);
  if (!options.adapter.empty()) base = hf::folder_path(options.model);
  auto path = find_model(options.adapter.empty() ? options.model : options.adapter, ports);
  if (!path) return propagate(path);
  auto source = ModelSource::open(*path, base);
  if (!source) return propagate(source);
  std::unique_ptr<Speaker> speaker(new Speaker(*std::move(source)));
  speaker->threads_ = options.threads;
  if (auto ok = speaker->find_words(options, asked_in_turns); !ok) return propagate(ok);
  auto loaded = speaker->source_.load(speaker->prompting_.tokenizer->vocabulary());
  if (!loaded) return propagate(loaded);
  speaker->loaded_ = *std::move(loaded);
  return speaker;
}

Status Speaker::find_words(const SpeakerOptions& options, bool asked_in_turns) {
  const fs::path folder = folder_of_words(source_);
  auto prompting =
      asked_in_turns ? words_for_turns(options, folder, source_) : words_for_text(options, folder);
  if (!prompting) return tl::unexpected(as_options(std::move(prompting).error()));
  prompting_ = *std::move(prompting);
  std::vector<TokenId>& ends = prompting_.rules.ends;
  for (const TokenId id : source_.end_tokens()) {
    if (std::ranges::find(ends, id) == ends.end()) ends.push_back(id);
  }
  prompts_.emplace(*prompting_.tokenizer, prompting_.rules);
  return {};
}

Status Speaker::make_room(std::int64_t context) {
  const std::int64_t longest = longest_text();
  if (longest > 0) context = std::min(context, longest);
  auto decoder = Decoder::make(loaded_->weights, context, threads_);
  if (!decoder) return propagate(decoder);
  decoder_ = *std::move(decoder);
  generator_.emplace(*decoder_, *prompting_.tokenizer, prompting_.rules.ends);
  return {};
}

void add_speaker_options(CLI::App& command, SpeakerOptions& options) {
  command
      .add_option(
          "--model,--checkpoint", options.model,
          "A checkpoint, the folder they are in (then the newest that verifies), the folder "
          "of a model with its config.json, or of an adapter")
      ->required();
  command.add_option("--adapter", options.adapter,
                     "Adapters over that model: a checkpoint, the folder they are in, or a folder "
                     "with adapter_config.json");
  command
      .add_option("--base", options.base,
                  "Where the base model of adapters lies, if not where they say")
      ->excludes("--adapter");
  command.add_option("--tokenizer", options.tokenizer,
                     "'byte', or a tokenizer.json; none: that of the model's folder, or bytes");
  command.add_option("--end-of-text", options.end_of_text,
                     "The token between documents, when its name is unusual");
  command.add_option(
      "--format", options.format,
      "How turns are put to the model: template (its own), chatml, llama3, zephyr, "
      "alpaca, plain, …; none: as a checkpoint was trained, its own where it has one, else plain");
  command.add_option("--threads", options.threads, "Processors to use")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
}

void add_sampling_options(CLI::App& command, Sampling& sampling) {
  command
      .add_option("--temperature", sampling.temperature,
                  "0: always the likeliest; above 1: more surprising")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 100.0));
  command.add_option("--top-k", sampling.top_k, "Only of the k likeliest; 0: of all")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--top-p", sampling.top_p,
                  "Only of the likeliest that have this share together; 1: of all")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  command
      .add_option("--repetition-penalty", sampling.repetition_penalty,
                  "Above 1: repetition becomes less likely; 1: no effect")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 100.0));
}

}  // namespace trainward::trainer
