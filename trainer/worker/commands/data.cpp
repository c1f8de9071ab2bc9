#include "trainer/worker/commands/data.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "common/base/json/json.hpp"
#include "common/base/text.hpp"
#include "common/os/clock.hpp"
#include "trainer/data/examples/report_text.hpp"
#include "trainer/loop/setup/load_examples.hpp"

namespace trainward::trainer {
namespace {

using Shown = std::vector<std::vector<ShownStretch>>;

// Some examples, from all over the set.
Result<Shown> shown_examples(const Examples& examples, std::int64_t wanted) {
  Shown all;
  const std::int64_t size = examples.training_set->size();
  const std::int64_t number = std::min(wanted, size);
  for (std::int64_t i = 0; i < number; ++i) {
    auto one = show(examples.training_set->at(static_cast<std::uint32_t>(i * size / number)),
                    *examples.prompting.tokenizer);
    if (!one) return propagate(one);
    all.push_back(std::move(*one));
  }
  return all;
}

// Tokens of an epoch's rows that nothing stands at.
std::int64_t padding_of(const ExampleRows& rows) {
  std::int64_t padding = rows.rows() * rows.shape().block;
  for (const std::uint32_t length : rows.lengths()) padding -= length;
  return padding;
}

std::string rows_text(const WorkerConfig& config, const Examples& examples) {
  const ExampleRows& rows = *examples.training_rows;
  const std::int64_t steps = examples.steps_of(config);
  const double full = 100.0 * static_cast<double>(padding_of(rows)) /
                      static_cast<double>(rows.rows() * rows.shape().block);
  return fmt::format(
      "Prompt format: {}. Trained on: {} in {} of {} tokens, {:.1f} % padding.\n"
      "An epoch is {} of {}; the run is {}, {:.2f} epochs.\n",
      examples.prompting.format->name(), count(rows.examples(), "example"),
      count(rows.rows(), "row"), rows.shape().block, full,
      count(examples.steps_per_epoch(), "step"), count(config.training.sequences_per_step(), "row"),
      count(steps, "step"),
      static_cast<double>(steps) / static_cast<double>(examples.steps_per_epoch()));
}

std::string text_of(const WorkerConfig& config, const Examples& examples, const Shown& shown,
                    bool colour) {
  std::string text = "data\n" + report_text(examples.report);
  if (examples.validation_report) {
    text += "validation data\n" + report_text(*examples.validation_report);
  } else if (examples.held_out_rows != nullptr) {
    text += fmt::format("Held out of it for evaluations: {}.\n",
                        count(examples.held_out_rows->examples(), "example"));
  }
  text += rows_text(config, examples);
  if (!shown.empty()) {
    text += colour ? "\nExamples; what is trained on is green.\n"
                   : "\nExamples; what is trained on stands between ⟦ and ⟧.\n";
  }
  for (std::size_t i = 0; i < shown.size(); ++i) {
    text += fmt::format(
        "--- {}\n{}\n", i + 1,
        colour ? shown_text(shown[i], "\x1b[32m", "\x1b[0m") : shown_text(shown[i], "⟦", "⟧"));
  }
  return text;
}

json::object json_of(const WorkerConfig& config, const Examples& examples, const Shown& shown) {
  const ExampleRows& rows = *examples.training_rows;
  json::array decoded;
  for (const auto& stretches : shown) {
    json::array parts;
    for (const ShownStretch& stretch : stretches) {
      parts.push_back(json::object{{"text", stretch.text}, {"trained", stretch.trained}});
    }
    decoded.push_back(std::move(parts));
  }
  json::object object{{"data", report_json(examples.report)},
                      {"prompt_format", examples.prompting.format->name()},
                      {"training_examples", rows.examples()},
                      {"targets", rows.targets()},
                      {"rows", rows.rows()},
                      {"block_size", rows.shape().block},
                      {"padding", padding_of(rows)},
                      {"steps_per_epoch", examples.steps_per_epoch()},
                      {"steps", examples.steps_of(config)},
                      {"held_out_examples",
                       examples.held_out_rows == nullptr ? 0 : examples.held_out_rows->examples()},
                      {"also_trained_on", examples.also_trained_on},
                      {"digest", examples.digest},
                      {"examples", std::move(decoded)}};
  if (examples.validation_report) {
    object["validation_data"] = report_json(*examples.validation_report);
  }
  return object;
}

}  // namespace

int run_data(const DataOptions& options, const CommandPorts& ports) {
  Reporter reporter({[](const Message&) {}, ports.err, ports.err, [] { return now(); }});
  auto config = load_worker_config(options.config_file);
  if (!config) {
    config.error().kind = ErrorKind::usage;
    return tell(ports, config.error());
  }
  auto are_examples = data_is_examples(*config);
  if (!are_examples) return tell(ports, are_examples.error());
  if (!*are_examples) {
    return tell(ports, {ErrorKind::usage, "the data of this run is one stream of text or tokens",
                        "training_config.data_form",
                        "set it to examples if its rows are questions and answers"});
  }
  auto examples = load_examples(*config, options.bad_rows, false, ports.requests, reporter);
  if (!examples) {
    if (ports.requests.stop_requested()) return exit_code::try_again;
    return tell(ports, examples.error());
  }
  auto shown = shown_examples(*examples, options.shown);
  if (!shown) return tell(ports, shown.error());
  ports.out(options.json ? json::serialize(json_of(*config, *examples, *shown)) + "\n"
                         : text_of(*config, *examples, *shown, options.colour));
  return exit_code::done;
}

void add_data(CLI::App& app, Chosen& chosen) {
  const auto options = std::make_shared<DataOptions>();
  CLI::App* command = app.add_subcommand(
      "data", "Show what the examples of a configuration are to a run, and what is trained on");
  command
      ->add_option("config", options->config_file,
                   "The configuration as JSON: a file, or - (trainwardctl config worker FILE | …)")
      ->required();
  command->add_option("--examples", options->shown, "How many to show")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1000}));
  command->add_option("--quarantine", options->bad_rows,
                      "A folder for the rows that are left out; without it they are only counted");
  command->add_flag("--json", options->json, "One object");
  command->footer(
      "Exit codes: 0 there is something to train on, 75 stopped as asked, 78 something to be "
      "changed first, 1 anything else.\n");
  command->callback([options, &chosen] {
    chosen = [options] {
      options->colour = !options->json && ::isatty(STDOUT_FILENO) == 1;
      return with_terminal([&](const CommandPorts& ports) { return run_data(*options, ports); },
                           options->colour);
    };
  });
}

}  // namespace trainward::trainer
