// trainward-worker: trains a model as its configuration says (docs/worker-protocol.md), and turns
// text into files of tokens for it (docs/data.md).

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "common/protocol.hpp"
#include "trainer/cpu/wait_policy.hpp"
#include "trainer/loop/check_command.hpp"
#include "trainer/loop/compile_command.hpp"
#include "trainer/loop/device_setup.hpp"
#include "trainer/loop/generate_command.hpp"
#include "trainer/loop/lower_command.hpp"
#include "trainer/loop/signals.hpp"
#include "trainer/loop/tokenize_command.hpp"
#include "trainer/loop/train_command.hpp"
#include "trainer/loop/worker.hpp"

namespace {

using namespace trainward;           // NOLINT(google-build-using-namespace)
using namespace trainward::trainer;  // NOLINT(google-build-using-namespace)

int error_width() {
  const char* terminal =
      std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): no thread exists yet
  winsize size{};
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  if (dumb || ::isatty(STDERR_FILENO) != 1) return 0;
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// Runs `command` with what the process has.
template <typename Command>
int with_terminal(const Command& command) {
  const Notifier notifier;  // nobody supervises this
  const Sinks sinks = process_sinks(notifier);
  if (auto ok = SignalRequests::install(); !ok) {
    sinks.err("trainward-worker: " + ok.error().message() + "\n");
    return exit_code::failed;
  }
  const SignalRequests requests;
  return command(CommandPorts{requests, sinks.out, sinks.err, error_width,
                              [] { return std::chrono::steady_clock::now(); }});
}

CLI::App* add_tokenize(CLI::App& app, TokenizeOptions& options) {
  CLI::App* command =
      app.add_subcommand("tokenize", "Turn text and JSONL into a file of tokens to train on");
  command->add_option("--tokenizer", options.tokenizer, "'byte', or a tokenizer.json")
      ->capture_default_str();
  command->add_option("--end-of-text", options.end_of_text,
                      "The token between documents, when its name is unusual");
  command->add_option("--format", options.format, "auto: *.jsonl are JSONL; text: nothing is")
      ->capture_default_str();
  command->add_option("--out", options.out, "The new file; must not exist")->required();
  command->add_option("--quarantine", options.quarantine,
                      "Where lines that are no documents go, with the reason");
  command->add_flag("--json", options.json, "The summary as JSON, and no progress");
  command->add_option("PATH", options.paths, "Files and folders")->required();
  command->footer(
      "Signals: TERM or INT ends it, and no file is left.\n"
      "Exit codes: 0 written, 75 stopped as asked, 78 something to be changed first, 1 anything "
      "else.\n");
  return command;
}

CLI::App* add_generate(CLI::App& app, GenerateOptions& options) {
  CLI::App* command = app.add_subcommand("generate", "Go on with a text as a trained model would");
  command
      ->add_option("--checkpoint", options.checkpoint,
                   "A checkpoint, or the folder they are in: then the newest that verifies")
      ->required();
  command->add_option("--prompt", options.prompt, "The text to go on with; none: a new document");
  command->add_option("--tokenizer", options.tokenizer, "'byte', or the tokenizer.json of training")
      ->capture_default_str();
  command->add_option("--end-of-text", options.end_of_text,
                      "The token between documents, when its name is unusual");
  command->add_option("--tokens", options.tokens, "How many at most")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
  command
      ->add_option("--temperature", options.sampling.temperature,
                   "0: always the likeliest; above 1: more surprising")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 100.0));
  command->add_option("--top-k", options.sampling.top_k, "Only of the k likeliest; 0: of all")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--top-p", options.sampling.top_p,
                   "Only of the likeliest that have this share together; 1: of all")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--seed", options.seed, "Another seed, another text")->capture_default_str();
  command->add_option("--threads", options.threads, "Processors to use")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  command->add_flag("--json", options.json, "One object at the end");
  command->footer(
      "Exit codes: 0 done, 75 stopped as asked, 78 something to be changed first, 1 anything "
      "else.\n");
  return command;
}

CLI::App* add_check(CLI::App& app, CheckOptions& options) {
  CLI::App* command = app.add_subcommand(
      "check", "Take a few steps on the device and with the CPU, and compare gradients and losses");
  command->add_option("--config", options.config_file, "The configuration, a JSON file")
      ->required();
  command->add_option("--steps", options.steps, "How many")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000}));
  command
      ->add_option("--correlation", options.correlation,
                   "Least correlation of a parameter's gradient with the CPU's")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--loss", options.loss, "Largest relative difference of a loss")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--json", options.json, "One object at the end");
  command->footer(
      "Exit codes: 0 the device agrees, 1 it does not or failed, 75 stopped as asked, 78 something "
      "to be changed first.\n");
  return command;
}

CLI::App* add_lower(CLI::App& app, LowerOptions& options) {
  CLI::App* command =
      app.add_subcommand("lower", "Write the programs that a device would be given, as StableHLO");
  command->add_option("--config", options.config_file, "The configuration, a JSON file")
      ->required();
  command->add_option("--out", options.out, "A folder for them; made when it is missing")
      ->required();
  command->footer("Exit codes: 0 written, 78 something to be changed first, 1 anything else.\n");
  return command;
}

int run(int argc, char** argv) {
  CLI::App app{
      "Trains a model, saves as it goes, and goes on where a checkpoint left off; makes its data, "
      "and shows what the model has learned."};
  app.name("trainward-worker");
  app.require_subcommand(1);
  WorkerOptions options;
  CLI::App* command = app.add_subcommand("train", "Train as the configuration file says");
  command->add_option("--config", options.config_file, "The configuration, a JSON file")
      ->required();
  command->add_option("--checkpoint-dir", options.checkpoint_dir,
                      "Where checkpoints go ($TRAINWARD_CHECKPOINT_DIR, else ./checkpoints)");
  command->add_option("--resume", options.resume,
                      "A checkpoint to go on from, or 'auto' for the newest that verifies "
                      "($TRAINWARD_RESUME_FROM)");
  command->footer(
      "Signals: TERM or INT saves and ends, USR1 saves.\n"
      "Exit codes: 0 all steps done, 75 stopped as asked, 78 wrong configuration, 1 anything "
      "else.\n");
  TokenizeOptions tokenize_options;
  const CLI::App* tokenize_command = add_tokenize(app, tokenize_options);
  GenerateOptions generate_options;
  const CLI::App* generate_command = add_generate(app, generate_options);
  CompileOptions compile_options;
  CLI::App* compile_command = app.add_subcommand(
      "compile", "Compile a run's programs into the program cache, where that needs no device");
  compile_command
      ->add_option("--config", compile_options.config_file, "The configuration, a JSON file")
      ->required();
  compile_command->footer(
      "The cache is $TRAINWARD_PROGRAM_CACHE.\n"
      "Exit codes: 0 done, or nothing can be done, 75 stopped as asked, 78 something to be changed "
      "first, 1 anything else.\n");
  CheckOptions check_options;
  const CLI::App* check_command = add_check(app, check_options);
  LowerOptions lower_options;
  const CLI::App* lower_command = add_lower(app, lower_options);
  std::string token_file;
  bool as_json = false;
  CLI::App* tokens_command =
      app.add_subcommand("tokens", "Show what a file of tokens holds, and check it");
  tokens_command->add_flag("--json", as_json, "As JSON");
  tokens_command->add_option("FILE", token_file, "A file, or a folder of them")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_code::done : exit_code::usage;
  }
  if (tokenize_command->parsed()) {
    return with_terminal(
        [&](const CommandPorts& ports) { return run_tokenize(tokenize_options, ports); });
  }
  if (generate_command->parsed()) {
    return with_terminal(
        [&](const CommandPorts& ports) { return run_generate(generate_options, ports); });
  }
  if (compile_command->parsed()) {
    return with_terminal([&](const CommandPorts& ports) {
      auto environment =
          read_environment(::getenv);  // NOLINT(concurrency-mt-unsafe): no thread exists yet
      if (!environment) return tell(ports, environment.error());
      return run_compile(compile_options, *environment, ports);
    });
  }
  if (check_command->parsed()) {
    return with_terminal([&](const CommandPorts& ports) {
      return run_check(check_options, ports, trainer::make_model);
    });
  }
  if (lower_command->parsed()) {
    return with_terminal(
        [&](const CommandPorts& ports) { return run_lower(lower_options, ports); });
  }
  if (tokens_command->parsed()) {
    return with_terminal(
        [&](const CommandPorts& ports) { return run_tokens(token_file, as_json, ports); });
  }
  return run_train(options, argv);
}

}  // namespace

int main(int argc, char** argv) {
  // Before anything else: it starts this program again, once, unless the policy is set already.
  (void)trainward::cpu::wait_passively(argv);
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // out of memory, for one
    std::fprintf(stderr, "trainward-worker: %s\n", error.what());
    return trainward::exit_code::failed;
  }
}
