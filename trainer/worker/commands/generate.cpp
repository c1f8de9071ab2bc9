#include "trainer/worker/commands/generate.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/format/names.hpp"
#include "common/base/json_text.hpp"
#include "common/protocol/protocol.hpp"
#include "trainer/generate/generate.hpp"

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;

Result<fs::path> find_checkpoint(const fs::path& given, const CommandPorts& ports) {
  std::error_code ignored;
  if (fs::exists(given / checkpoint::name::manifest, ignored)) return given;
  if (!fs::is_directory(given, ignored)) {
    return fail(ErrorKind::usage, "is no folder", given.string(),
                "name a checkpoint such as step-00000300, or the folder they are in");
  }
  auto present = checkpoint::list(given);
  if (!present) return propagate(present);
  // Newest first. Nothing is renamed here: that is for the run they belong to.
  for (const checkpoint::Summary& candidate : *present) {
    auto whole = checkpoint::verify(candidate.path);
    if (whole) return candidate.path;
    ports.err(fmt::format("trainward-worker: not used: {}\n", whole.error().message()));
  }
  return fail(ErrorKind::usage, "holds no checkpoint that is whole", given.string());
}

std::string_view name_of(Generated::End end) {
  switch (end) {
    case Generated::End::document:
      return "end_of_text";
    case Generated::End::length:
      return "length";
    case Generated::End::asked:
      return "asked";
  }
  return "?";
}

}  // namespace

int run_generate(const GenerateOptions& options, const CommandPorts& ports) {
  auto tokenizer = open_tokenizer(options.tokenizer, options.end_of_text);
  if (!tokenizer) return tell(ports, tokenizer.error());
  auto folder = find_checkpoint(options.checkpoint, ports);
  if (!folder) return tell(ports, folder.error());
  if (!options.json) ports.out(options.prompt);
  const auto start = ports.now();
  auto done = generate(
      {*folder, options.prompt, options.tokens, options.sampling, options.seed, options.threads,
       [&](std::string_view bytes) {
         if (!options.json) ports.out(bytes);
         return !ports.requests.stop_requested();
       }},
      **tokenizer);
  if (!options.json) ports.out("\n");
  if (!done) return tell(ports, done.error());
  if (options.json) {
    const double seconds = std::chrono::duration<double>(ports.now() - start).count();
    JsonText json;  // the text may be cut inside a character
    json.add("checkpoint", folder->string())
        .add("step", done->step)
        .add("prompt", options.prompt)
        .add("text", done->text)
        .add("prompt_tokens", done->prompt_tokens)
        .add("tokens", done->tokens)
        .add("end", name_of(done->end))
        .add_json("seconds", fmt::format("{:.3f}", seconds));
    ports.out("{" + json.members() + "}\n");
  }
  return done->end == Generated::End::asked ? exit_code::try_again : exit_code::done;
}

void add_generate(CLI::App& app, Chosen& chosen) {
  const auto options = std::make_shared<GenerateOptions>();
  CLI::App* command = app.add_subcommand("generate", "Go on with a text as a trained model would");
  command
      ->add_option("--checkpoint", options->checkpoint,
                   "A checkpoint, or the folder they are in: then the newest that verifies")
      ->required();
  command->add_option("--prompt", options->prompt, "The text to go on with; none: a new document");
  command
      ->add_option("--tokenizer", options->tokenizer, "'byte', or the tokenizer.json of training")
      ->capture_default_str();
  command->add_option("--end-of-text", options->end_of_text,
                      "The token between documents, when its name is unusual");
  command->add_option("--tokens", options->tokens, "How many at most")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
  command
      ->add_option("--temperature", options->sampling.temperature,
                   "0: always the likeliest; above 1: more surprising")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 100.0));
  command->add_option("--top-k", options->sampling.top_k, "Only of the k likeliest; 0: of all")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--top-p", options->sampling.top_p,
                   "Only of the likeliest that have this share together; 1: of all")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--seed", options->seed, "Another seed, another text")->capture_default_str();
  command->add_option("--threads", options->threads, "Processors to use")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  command->add_flag("--json", options->json, "One object at the end");
  command->footer(
      "Exit codes: 0 done, 75 stopped as asked, 78 something to be changed first, 1 anything "
      "else.\n");
  command->callback([options, &chosen] {
    chosen = [options] {
      return with_terminal(
          [&](const CommandPorts& ports) { return run_generate(*options, ports); });
    };
  });
}

}  // namespace trainward::trainer
