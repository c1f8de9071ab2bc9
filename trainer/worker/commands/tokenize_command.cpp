#include "trainer/worker/commands/tokenize_command.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "common/base/json/json.hpp"
#include "common/base/text.hpp"
#include "common/protocol/protocol.hpp"
#include "trainer/data/mapped_tokens.hpp"
#include "trainer/data/tokenize.hpp"

namespace trainward::trainer {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr std::chrono::seconds between_lines{10};

// Shows progress, and notices a request to stop.
class Display {
 public:
  Display(const CommandPorts& ports, bool quiet)
      : ports_(ports),
        quiet_(quiet),
        start_(ports.now()),
        told_(start_),
        bar_("tokenizing", start_) {}

  Status step(std::uint64_t done, std::uint64_t total) {
    if (ports_.requests.stop_requested()) return fail(ErrorKind::transient, "was asked to stop");
    const auto now = ports_.now();
    if (const int width = quiet_ ? 0 : ports_.err_width(); width > 0) {
      if (const auto text = bar_.update(now, done, total, static_cast<std::size_t>(width))) {
        ports_.err(*text);
      }
    } else if (!quiet_ && now - told_ >= between_lines) {
      told_ = now;
      ports_.err(fmt::format("tokenizing: {} of {}, {}/s\n", human_bytes(done), human_bytes(total),
                             human_bytes(rate(done))));
    }
    return {};
  }

  void clear() {
    if (const std::string text = bar_.clear(); !text.empty()) ports_.err(text);
  }
  [[nodiscard]] double seconds() const { return Seconds(ports_.now() - start_).count(); }
  [[nodiscard]] std::uint64_t rate(std::uint64_t bytes) const {
    const double passed = seconds();
    return passed > 0 ? static_cast<std::uint64_t>(static_cast<double>(bytes) / passed) : 0;
  }

 private:
  const CommandPorts& ports_;
  bool quiet_;
  ProgressBar::Time start_;
  ProgressBar::Time told_;
  ProgressBar bar_;
};

json::object summary_json(const TokenizeOptions& options, const TokenizeSummary& summary,
                          double seconds) {
  json::object object{{"file", options.out},
                      {"documents", summary.documents},
                      {"tokens", summary.tokens},
                      {"bytes_per_token", summary.width},
                      {"sha256", summary.token_digest},
                      {"bytes", summary.bytes},
                      {"seconds", seconds},
                      {"bad_lines", summary.bad_lines},
                      {"files_left_out", json::array{}}};
  if (summary.bad_lines > 0) object["first_bad_line"] = summary.first_bad_line;
  for (const Unread& unread : summary.unread) {
    object["files_left_out"].as_array().push_back(
        json::object{{"file", unread.path.string()}, {"reason", unread.reason}});
  }
  return object;
}

std::string summary_text(const TokenizeOptions& options, const TokenizeSummary& summary,
                         const Display& display) {
  std::string text =
      fmt::format("{}: {}, {} of {} bytes, from {} in {}, {}/s\n", options.out,
                  count(summary.documents, "document"), count(summary.tokens, "token"),
                  summary.width, human_bytes(summary.bytes),
                  human_duration(static_cast<std::int64_t>(display.seconds() * 1000)),
                  human_bytes(display.rate(summary.bytes)));
  if (summary.bad_lines > 0) {
    text += fmt::format("left out: {}, the first {}{}\n", count(summary.bad_lines, "line"),
                        summary.first_bad_line,
                        options.quarantine ? "; all in " + *options.quarantine : std::string());
  }
  for (const Unread& unread : summary.unread) {
    text += fmt::format("left out: {}: {}\n", unread.path.string(), unread.reason);
  }
  return text;
}

}  // namespace

int run_tokenize(const TokenizeOptions& options, const CommandPorts& ports) {
  const auto format = data_format(options.format);
  if (!format || *format == DataFormat::u16 || *format == DataFormat::u32) {
    return tell(ports,
                {ErrorKind::usage, fmt::format("'{}' is neither auto nor text", options.format),
                 "--format", ""});
  }
  auto tokenizer = open_tokenizer(options.tokenizer, options.end_of_text);
  if (!tokenizer) {
    if (tokenizer.error().where == "end_of_text") tokenizer.error().where = "--end-of-text";
    return tell(ports, tokenizer.error());
  }
  Display display(ports, options.json);
  std::optional<Quarantine> quarantine;
  if (options.quarantine) quarantine.emplace(*options.quarantine);
  TokenizeJob job{
      options.paths, *format, options.out, quarantine ? &*quarantine : nullptr,
      [&](std::uint64_t done, std::uint64_t total) { return display.step(done, total); }};
  auto summary = tokenize(job, **tokenizer);
  display.clear();
  if (!summary && ports.requests.stop_requested()) {
    ports.err(fmt::format("trainward-worker: stopped as asked; {} was not written\n", options.out));
    return exit_code::try_again;
  }
  if (!summary) return tell(ports, summary.error());
  ports.out(options.json
                ? json::serialize(summary_json(options, *summary, display.seconds())) + "\n"
                : summary_text(options, *summary, display));
  return exit_code::done;
}

int run_tokens(const std::string& path, bool as_json, const CommandPorts& ports) {
  const std::vector<std::string> paths{path};
  auto data = find_data(paths, DataFormat::automatic);
  if (!data) return tell(ports, data.error());
  auto tokens = MappedTokens::open(*data, DataFormat::automatic, {});
  if (!tokens) return tell(ports, tokens.error());
  auto ok = (*tokens)->verify();
  if (!ok) return tell(ports, ok.error());
  const TokenHeader& facts = (*tokens)->facts();
  ports.out(as_json
                ? json::serialize(json::object{{"file", path},
                                               {"documents", (*tokens)->documents()},
                                               {"tokens", (*tokens)->tokens()},
                                               {"bytes_per_token", facts.width},
                                               {"vocabulary", facts.vocabulary},
                                               {"end_of_text", facts.end_of_text},
                                               {"tokenizer", facts.tokenizer_digest},
                                               {"sha256", facts.token_digest}}) +
                      "\n"
                : fmt::format("{}: {}, {} of {} bytes, vocabulary {}, end of text {}, as they were "
                              "written\n",
                              path, count((*tokens)->documents(), "document"),
                              count((*tokens)->tokens(), "token"), facts.width, facts.vocabulary,
                              facts.end_of_text));
  return exit_code::done;
}

void add_tokenize(CLI::App& app, Chosen& chosen) {
  const auto options = std::make_shared<TokenizeOptions>();
  CLI::App* command =
      app.add_subcommand("tokenize", "Turn text and JSONL into a file of tokens to train on");
  command->add_option("--tokenizer", options->tokenizer, "'byte', or a tokenizer.json")
      ->capture_default_str();
  command->add_option("--end-of-text", options->end_of_text,
                      "The token between documents, when its name is unusual");
  command->add_option("--format", options->format, "auto: *.jsonl are JSONL; text: nothing is")
      ->capture_default_str();
  command->add_option("--out", options->out, "The new file; must not exist")->required();
  command->add_option("--quarantine", options->quarantine,
                      "Where malformed lines go, with the reason");
  command->add_flag("--json", options->json, "The summary as JSON, and no progress");
  command->add_option("PATH", options->paths, "Files and folders")->required();
  command->footer(
      "Signals: TERM or INT ends it, and no file is left.\n"
      "Exit codes: 0 written, 75 stopped as asked, 78 something to be changed first, 1 anything "
      "else.\n");
  command->callback([options, &chosen] {
    chosen = [options] {
      return with_terminal(
          [&](const CommandPorts& ports) { return run_tokenize(*options, ports); });
    };
  });
}

void add_tokens(CLI::App& app, Chosen& chosen) {
  struct Options {
    std::string file;
    bool as_json = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("tokens", "Show what a file of tokens holds, and check it");
  command->add_flag("--json", options->as_json, "As JSON");
  command->add_option("FILE", options->file, "A file, or a folder of them")->required();
  command->callback([options, &chosen] {
    chosen = [options] {
      return with_terminal([&](const CommandPorts& ports) {
        return run_tokens(options->file, options->as_json, ports);
      });
    };
  });
}

}  // namespace trainward::trainer
