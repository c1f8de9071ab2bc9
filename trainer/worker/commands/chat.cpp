#include "trainer/worker/commands/chat.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/terminal_text.hpp"
#include "common/protocol/protocol.hpp"
#include "trainer/worker/commands/line_input.hpp"

namespace trainward::trainer {
namespace {

constexpr std::string_view help =
    "Each line goes to the model. Commands: /reset starts over, /system TEXT tells the model what "
    "it is (without TEXT: nothing), /quit ends, as does Ctrl-D. Ctrl-C ends an answer. To send a "
    "line that starts with /, put a space before it.\n";

class Conversation {
 public:
  Conversation(const ChatOptions& options, const ChatPorts& ports, Speaker& speaker)
      : options_(options), ports_(ports), speaker_(speaker), system_(options.system) {}

  int run() {
    while (!stopped()) {
      if (ports_.terminal) ports_.command.err("> ");
      const auto line = ports_.read_line();
      if (!line) break;
      if (line->empty()) continue;
      if (*line == "/quit") break;
      if (line->front() == '/') {
        obey(*line);
      } else if (auto ok = say(*line); !ok) {
        const int code = tell(ports_.command, ok.error());
        if (!ports_.terminal) return code;
      }
    }
    return stopped() ? exit_code::try_again : exit_code::done;
  }

 private:
  [[nodiscard]] bool stopped() const { return ports_.command.requests.stop_requested(); }

  void obey(std::string_view line) {
    constexpr std::string_view system = "/system";
    if (line == "/reset") {
      turns_.clear();
    } else if (line == system || line.starts_with("/system ")) {
      system_ = line.substr(std::min(line.size(), system.size() + 1));
    } else if (line == "/help") {
      ports_.command.err(help);
    } else {
      ports_.command.err(fmt::format("There is no command '{}'. {}", clean(line), help));
    }
  }

  [[nodiscard]] std::vector<ChatTurn> all_turns() const {
    std::vector<ChatTurn> turns;
    if (!system_.empty()) turns.push_back({"system", system_});
    turns.insert(turns.end(), turns_.begin(), turns_.end());
    return turns;
  }

  Status say(const std::string& line) {
    turns_.push_back({"user", line});
    auto done = answer();
    if (!done) {
      turns_.pop_back();  // as if it had not been said
      return propagate(done);
    }
    turns_.push_back({"assistant", std::move(done->text)});
    if (done->end == Generated::End::length) {
      ports_.command.err(fmt::format("(cut after {} tokens)\n", done->tokens));
    }
    return {};
  }

  Result<Generated> answer() {
    auto text = speaker_.tokens_of(all_turns());
    if (!text) return propagate(text);
    if (static_cast<std::int64_t>(text->size()) >= speaker_.context()) {
      return fail(ErrorKind::usage,
                  fmt::format("the conversation has {} tokens, and there is room for {}",
                              text->size(), speaker_.context()),
                  {}, "start over with /reset, or start the chat with a larger --context");
    }
    (void)ports_.take_interrupt();
    GenerateRequest request;
    request.tokens = options_.tokens;
    request.sampling = options_.sampling;
    request.random = RandomStream(options_.seed, fmt::format("chat {}", answers_++));
    TerminalText safe;
    request.show = [&](std::string_view news) {
      ports_.command.out(ports_.command.out_is_terminal ? safe.take(news) : std::string(news));
      return !ports_.take_interrupt() && !stopped();
    };
    auto done = speaker_.go_on(*text, request);
    ports_.command.out(safe.rest() + "\n");
    return done;
  }

  const ChatOptions& options_;
  const ChatPorts& ports_;
  Speaker& speaker_;
  std::string system_;
  std::vector<ChatTurn> turns_;
  std::int64_t answers_ = 0;
};

}  // namespace

int run_chat(const ChatOptions& options, const ChatPorts& ports) {
  auto speaker = Speaker::open(options.speaker, true, ports.command);
  if (!speaker) return tell(ports.command, speaker.error());
  if (auto ok = (*speaker)->make_room(options.context); !ok) return tell(ports.command, ok.error());
  if (ports.terminal) {
    ports.command.err(fmt::format("{}, asked as {}, room for {} tokens; /help tells more.\n",
                                  clean((*speaker)->source().path().string()),
                                  (*speaker)->format().name(), (*speaker)->context()));
  }
  return Conversation(options, ports, **speaker).run();
}

void add_chat(CLI::App& app, Chosen& chosen) {
  const auto options = std::make_shared<ChatOptions>();
  CLI::App* command = app.add_subcommand("chat", "Talk with a trained model");
  add_speaker_options(*command, options->speaker);
  command->add_option("--system", options->system, "What the model is told before everything else");
  command->add_option("--tokens", options->tokens, "Of an answer, at most")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
  command->add_option("--context", options->context, "Room for the whole conversation, in tokens")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{2}, std::int64_t{1'000'000}));
  add_sampling_options(*command, options->sampling);
  command->add_option("--seed", options->seed, "Another seed, other answers")
      ->capture_default_str();
  command->footer(std::string(help) +
                  "\nExit codes: 0 done, 75 stopped as asked, 78 something to be changed first, 1 "
                  "anything else.\n");
  command->callback([options, &chosen] {
    chosen = [options] {
      return with_terminal([&](const CommandPorts& ports) {
        LineInput input;
        if (auto ok = LineInput::catch_interrupts(); !ok) return tell(ports, ok.error());
        return run_chat(*options, {ports, [&] { return input.read(ports.requests); },
                                   LineInput::take_interrupt, LineInput::is_terminal()});
      });
    };
  });
}

}  // namespace trainward::trainer
