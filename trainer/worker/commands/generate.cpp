#include "trainer/worker/commands/generate.hpp"

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <vector>

#include "common/base/json/json_text.hpp"
#include "common/base/terminal_text.hpp"
#include "common/protocol/protocol.hpp"

namespace trainward::trainer {
namespace {

Result<std::vector<TokenId>> text_of(const GenerateOptions& options, Speaker& speaker) {
  if (!options.chat) return speaker.tokens_of(options.prompt);
  std::vector<ChatTurn> turns;
  if (!options.system.empty()) turns.push_back({"system", options.system});
  turns.push_back({"user", options.prompt});
  return speaker.tokens_of(turns);
}

std::string as_json(const GenerateOptions& options, const Speaker& speaker, const Generated& done,
                    std::size_t prompt_tokens, double seconds) {
  JsonText json;
  const ModelSource& source = speaker.source();
  json.add(source.is_checkpoint() ? "checkpoint" : "model", source.path().string());
  if (source.is_checkpoint()) json.add("step", source.step());
  json.add("prompt", options.prompt)
      .add("text", done.text)
      .add("prompt_tokens", static_cast<std::int64_t>(prompt_tokens))
      .add("tokens", done.tokens)
      .add("end", name_of(done.end))
      .add_json("seconds", fmt::format("{:.3f}", seconds));
  return "{" + json.members() + "}\n";
}

}  // namespace

int run_generate(const GenerateOptions& options, const CommandPorts& ports) {
  auto opened = Speaker::open(options.speaker, options.chat, ports);
  if (!opened) return tell(ports, opened.error());
  Speaker& speaker = **opened;
  auto text = text_of(options, speaker);
  if (!text) return tell(ports, text.error());
  const auto length = static_cast<std::int64_t>(text->size());
  if (auto ok = speaker.make_room(length + options.tokens); !ok) return tell(ports, ok.error());
  TerminalText safe;
  const auto say = [&](std::string_view text) {
    ports.out(ports.out_is_terminal ? safe.take(text) : std::string(text));
  };
  if (!options.json && !options.chat) say(options.prompt);
  const auto start = ports.now();
  GenerateRequest request;
  request.tokens = options.tokens;
  request.sampling = options.sampling;
  request.random = RandomStream(options.seed, "generate");
  request.begins = !options.chat && options.prompt.empty();
  request.show = [&](std::string_view news) {
    if (!options.json) say(news);
    return !ports.requests.stop_requested();
  };
  auto done = speaker.go_on(*text, request);
  if (!options.json) ports.out(safe.rest() + "\n");
  if (!done) return tell(ports, done.error());
  if (done->end == Generated::End::length && done->tokens < options.tokens) {
    ports.err(
        fmt::format("trainward-worker: the text has reached the {} tokens that this model "
                    "sees; that is all\n",
                    length + done->tokens));
  }
  if (options.json) {
    const double seconds = std::chrono::duration<double>(ports.now() - start).count();
    ports.out(as_json(options, speaker, *done, text->size(), seconds));
  }
  return done->end == Generated::End::asked ? exit_code::try_again : exit_code::done;
}

void add_generate(CLI::App& app, Chosen& chosen) {
  const auto options = std::make_shared<GenerateOptions>();
  CLI::App* command = app.add_subcommand("generate", "Go on with a text as a trained model would");
  add_speaker_options(*command, options->speaker);
  command->add_option("--prompt", options->prompt, "The text to continue; none: a new document");
  CLI::Option* chat = command->add_flag("--chat", options->chat,
                                        "The prompt is a question, put as the model is used to");
  command->add_option("--system", options->system, "What the model is told before the question")
      ->needs(chat);
  command->add_option("--tokens", options->tokens, "How many at most")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
  add_sampling_options(*command, options->sampling);
  command->add_option("--seed", options->seed, "Another seed, another text")->capture_default_str();
  command->add_flag("--json", options->json, "One object at the end");
  command->get_option("--format")->needs(chat);
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
