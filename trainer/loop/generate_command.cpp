#include "trainer/loop/generate_command.hpp"

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/format/names.hpp"
#include "common/json_text.hpp"
#include "common/protocol.hpp"
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

}  // namespace trainward::trainer
