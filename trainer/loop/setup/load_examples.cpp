#include "trainer/loop/setup/load_examples.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "common/base/text.hpp"
#include "trainer/data/examples/read_examples.hpp"
#include "trainer/data/examples/row_reader.hpp"
#include "trainer/data/left_out.hpp"
#include "trainer/data/text/content.hpp"
#include "trainer/loop/setup/reading_progress.hpp"

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;

// What both readings have in common.
class ExampleReading {
 public:
  ExampleReading(const WorkerConfig& config, Prompting& prompting, const Requests& requests,
                 Reporter& reporter)
      : config_(config), prompting_(prompting), requests_(requests), reporter_(reporter) {}

  Result<LoadedExamples> read(std::span<const std::string> paths, const fs::path& bad_rows,
                              std::string_view called) {
    reporter_.status(fmt::format("reading the {}: {}", called, fmt::join(paths, ", ")));
    std::optional<Quarantine> quarantine;
    if (!bad_rows.parent_path().empty()) quarantine.emplace(bad_rows);
    ExampleOptions options;
    options.tokenizer = prompting_.tokenizer.get();
    options.format = prompting_.format.get();
    options.rules = prompting_.rules;
    options.beginning = prompting_.beginning;
    options.block = config_.training.block_size;
    options.too_long = too_long_rule(config_.too_long).value_or(TooLong::keep_start);
    options.columns = config_.columns;
    options.bad_row = [&](const BadLine& row) -> Status {
      if (!quarantine) return {};
      if (auto ok = quarantine->put(row); !ok && quarantine->lines() <= 1) {
        reporter_.error(ok.error().message());  // costs the copy, not the run
      }
      return {};
    };
    options.progress = reading_progress(std::string(called), requests_, reporter_);
    auto loaded = read_examples(paths, options);
    if (!loaded) {
      if (loaded.error().where == "columns")
        loaded.error().where = "training_config.column_mapping";
      return loaded;
    }
    for (const std::string& words : loaded->report.warnings()) reporter_.error(words);
    if (loaded->report.bad_rows > 0 && quarantine) {
      reporter_.status(fmt::format("bad rows are in {}", quarantine->path().string()));
    }
    return loaded;
  }

 private:
  const WorkerConfig& config_;
  Prompting& prompting_;
  const Requests& requests_;
  Reporter& reporter_;
};

RowShape shape_of(const WorkerConfig& config, const Prompting& prompting) {
  return {.block = config.training.block_size,
          .packing = config.packing,
          .padding = prompting.tokenizer->end_of_text(),
          .seed = config.training.seed};
}

std::vector<std::uint32_t> all_of(const ExampleSet& set) {
  std::vector<std::uint32_t> chosen(set.size());
  std::iota(chosen.begin(), chosen.end(), 0U);
  return chosen;
}

// The rows of training, and of what is held out where anything is.
void make_rows(const WorkerConfig& config, Examples& examples) {
  const RowShape shape = shape_of(config, examples.prompting);
  const bool own_file = examples.validation_set != nullptr;
  Split split = hold_out(examples.training_set->size(), own_file ? 0 : config.validation_share,
                         config.training.seed);
  const ExampleSet& held_out_of = own_file ? *examples.validation_set : *examples.training_set;
  if (own_file) split.held_out = all_of(*examples.validation_set);
  examples.also_trained_on =
      shared_examples(*examples.training_set, split.training, held_out_of, split.held_out);
  if (!split.held_out.empty()) {
    examples.held_out_rows =
        std::make_unique<ExampleRows>(held_out_of, std::move(split.held_out), shape);
  }
  examples.training_rows =
      std::make_unique<ExampleRows>(*examples.training_set, std::move(split.training), shape);
}

void make_sources(const WorkerConfig& config, Examples& examples) {
  const TrainingSpec& training = config.training;
  examples.training = std::make_unique<ExampleReader>(*examples.training_rows,
                                                      training.sequences_per_step(), training.seed);
  if (examples.held_out_rows == nullptr) return;
  // The model is compiled for batches of this size.
  examples.held_out =
      std::make_unique<HeldOutExamples>(*examples.held_out_rows, training.batch_size);
}

void tell(const WorkerConfig& config, const Examples& examples, Reporter& reporter) {
  const ExampleRows& rows = *examples.training_rows;
  reporter.status(
      fmt::format("data: {} in {} of {} tokens ({} trained on), prompt format {}; an epoch is {}",
                  count(rows.examples(), "example"), count(rows.rows(), "row"),
                  config.training.block_size, rows.targets(), examples.prompting.format->name(),
                  count(examples.steps_per_epoch(), "step")));
  if (examples.held_out_rows != nullptr) {
    reporter.status(
        fmt::format("evaluations: {}", count(examples.held_out_rows->examples(), "example")));
  }
  if (examples.prompting.format->last_answer_only()) {
    reporter.status(
        "of several answers in a conversation only the last is trained on: the "
        "template writes earlier ones differently from how the model gives them");
  }
  if (examples.also_trained_on > 0) {
    reporter.error(fmt::format(
        "{} {} both evaluated on and trained on, word for word: the loss will look too good",
        count(examples.also_trained_on, "example"), examples.also_trained_on == 1 ? "is" : "are"));
  }
}

// Letters that end an answer do not teach the model where to stop. A run that started this way
// continues.
Status check_ends(const WorkerConfig& config, const Prompting& prompting, Reporter& reporter) {
  if (prompting.lost_end.empty()) return {};
  auto refused =
      fail(ErrorKind::usage,
           fmt::format("{} ends answers with {}, which this tokenizer splits into several tokens",
                       prompting.format->name(), prompting.lost_end),
           "training_config.prompt_format",
           "choose a form that ends with the tokenizer's own end token (zephyr, llama2, plain), or "
           "take a tokenizer.json that has this one among its added_tokens");
  if (config.edition > 1) return refused;
  reporter.error(refused.value().message());
  return {};
}

std::string left_out_of(const LoadReport& report) {
  return left_out_text({report.examples, report.bad_rows, report.first_bad_row, report.dropped(),
                        std::ssize(report.unread)});
}

void tell_what_was_left_out(const Examples& examples, Reporter& reporter) {
  std::string text = left_out_of(examples.report);
  if (examples.validation_report) {
    const std::string also = left_out_of(*examples.validation_report);
    if (!also.empty()) text += (text.empty() ? "" : "; ") + ("validation data: " + also);
  }
  if (!text.empty()) reporter.left_out(text);
}

// The rows that `data` and `validation_data` hold.
Status read_all(const WorkerConfig& config, const fs::path& bad_rows, const Requests& requests,
                Reporter& reporter, Examples& examples) {
  ExampleReading reading(config, examples.prompting, requests, reporter);
  auto loaded = reading.read(config.data, bad_rows / "bad-lines.jsonl", "data");
  if (!loaded) return propagate(loaded);
  examples.report = std::move(loaded->report);
  examples.training_set = std::make_unique<const ExampleSet>(std::move(loaded->set));
  if (config.validation_data.empty()) return {};
  auto validation = reading.read(config.validation_data, bad_rows / "bad-validation-lines.jsonl",
                                 "validation data");
  if (!validation) return propagate(validation);
  examples.validation_report = std::move(validation->report);
  examples.validation_set = std::make_unique<const ExampleSet>(std::move(validation->set));
  return {};
}

}  // namespace

std::int64_t Examples::steps_of(const settings::RunSettings& settings) const {
  if (settings.num_epochs == 0) return settings.steps;
  const std::int64_t whole = settings.num_epochs * steps_per_epoch();
  return settings.steps > 0 ? std::min(settings.steps, whole) : whole;
}

Result<Examples> load_examples(WorkerConfig& config, const fs::path& bad_rows, bool resuming,
                               const Requests& requests, Reporter& reporter) {
  Examples examples;
  auto prompting = open_prompting(config);
  if (!prompting) {
    if (resuming) prompting.error().kind = ErrorKind::permanent;
    return propagate(prompting);
  }
  examples.prompting = std::move(*prompting);
  if (auto ok = check_ends(config, examples.prompting, reporter); !ok) return propagate(ok);
  if (auto ok = read_all(config, bad_rows, requests, reporter, examples); !ok) {
    if (resuming && ok.error().kind == ErrorKind::usage) ok.error().kind = ErrorKind::permanent;
    return propagate(ok);
  }
  tell_what_was_left_out(examples, reporter);
  make_rows(config, examples);
  make_sources(config, examples);
  if (config.evaluate_every > 0 && examples.held_out == nullptr) {
    return fail(ErrorKind::usage, "asks for evaluations, and there is nothing to evaluate on",
                "training_config.evaluate_every",
                "name validation_data, or keep back a validation_share of two examples or more");
  }
  examples.digest = examples.training_set->digest(examples.prompting.digest);
  if (auto ok = fit_to_data(config, examples.prompting.tokenizer->vocabulary(),
                            examples.prompting.digest);
      !ok) {
    return propagate(ok);
  }
  tell(config, examples, reporter);
  return examples;
}

Result<bool> data_is_examples(const WorkerConfig& config, bool resuming) {
  if (config.data_form != "auto") return config.data_form == "examples";
  if (config.base_model.empty() || config.data_format != DataFormat::automatic) return false;
  bool all = !config.data.empty();
  for (const std::string& path : config.data) {
    auto found = find_files(path);
    if (!found) return propagate(found);
    const bool any = std::ranges::any_of(
        found->files, [](const FoundFile& file) { return holds_rows(file.path); });
    all = all && any;
    if (any || resuming) continue;
    for (const FoundFile& file : found->files) {
      const auto no = why_no_rows("", file.path);
      if (!no) continue;
      return fail(ErrorKind::usage, no->what, file.path.string(),
                  no->hint + "; to train on it as text, say data_form: stream");
    }
  }
  return all;
}

}  // namespace trainward::trainer
