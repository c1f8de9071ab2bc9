// tail, maintail: the last bytes of a log, and then, with -f, whatever comes, across attempts.
#include <chrono>
#include <thread>

#include "common/base/terminal_text.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/program_names.hpp"
#include "supervisor/ctl/logs/log_source.hpp"

namespace trainward::ctl {
namespace {

struct TailRequest {
  std::string program;  // empty: the daemon's own log
  std::string stream = "stdout";
  std::int64_t bytes = 1600;
  bool follow = false;  // until interrupted, across attempts
};

constexpr std::int64_t chunk_bytes = 1 << 20;
constexpr std::chrono::milliseconds poll_interval{250};

// The bytes as they are for a file or a pipe; for a terminal what cannot do anything to it.
class Printer {
 public:
  explicit Printer(Terminal& terminal) : terminal_(terminal) {}

  void print(const std::string& bytes) {
    terminal_.out << (terminal_.out_is_terminal ? text_.take(bytes) : bytes);
    terminal_.out.flush();
  }
  void end() { terminal_.out << text_.rest(); }

 private:
  Terminal& terminal_;
  TerminalText text_;
};

// Never returns success: it ends when interrupted or when the log can no longer be read.
Failure follow(const Context& context, LogQuery query, const LogPiece& last, Printer& printer) {
  query.attempt = last.attempt;
  query.offset = last.size;
  query.limit = chunk_bytes;
  for (;;) {
    auto piece = read_log_piece(context, query);
    if (!piece) return std::move(piece.error());
    if (piece->size < query.offset) query.offset = 0;  // the daemon was replaced
    if (!piece->bytes.empty()) {
      printer.print(piece->bytes);
      query.offset =
          std::max(query.offset, piece->offset) + static_cast<std::int64_t>(piece->bytes.size());
      continue;
    }
    // Nothing more of this attempt; a later one goes on from its first byte.
    if (!query.program.empty()) {
      auto newest = read_log_piece(context, {query.program, query.stream, 0, 0, 1});
      if (!newest) return std::move(newest.error());
      if (newest->attempt > query.attempt) {
        query.attempt = newest->attempt;
        query.offset = 0;
        printer.end();
        context.terminal.err << fmt::format("==> attempt {} <==\n", query.attempt);
        continue;
      }
    }
    std::this_thread::sleep_for(poll_interval);
  }
}

int tail(const Context& context, const TailRequest& request) {
  const std::int64_t wanted = std::min(request.bytes, chunk_bytes);
  // Offset 0 from the end would mean the beginning.
  const LogQuery query{plain_name(request.program), request.stream, 0, wanted > 0 ? -wanted : 0,
                       wanted};
  const auto piece = read_log_piece(context, query);
  if (!piece) return finish(context, piece.error());
  if (piece->from_files) {
    context.terminal.err << fmt::format("trainwardd is not running ({}); reading its files in {}\n",
                                        context.settings.socket_path().string(),
                                        context.settings.state_dir.string());
  }
  if (context.settings.json) {
    context.print_json({{"program", request.program},
                        {"stream", request.stream},
                        {"attempt", piece->attempt},
                        {"size", piece->size},
                        {"text", piece->bytes}});
    return exit_status::ok;
  }
  Printer printer(context.terminal);
  printer.print(piece->bytes);
  if (request.follow) return finish(context, follow(context, query, *piece, printer));
  printer.end();
  return exit_status::ok;
}

void add_options(Cli& cli, const Verb& verb, TailRequest& request) {
  verb.flag("-f,--follow", request.follow, "go on as it grows, across attempts");
  verb.option("--bytes", request.bytes, "how much; -N is short for it (1600)")
      .range(std::int64_t{0}, std::int64_t{1} << 20);
  cli.on(verb, request, tail, [&] {
    const bool both = request.follow && cli.settings.json;
    return both ? "--json: does not go with --follow" : "";
  });
}

}  // namespace

void add_tail(Cli& cli) {
  auto& request = cli.keep<TailRequest>();
  const Verb verb = cli.verb("tail", "the end of a program's log");
  verb.option("NAME", request.program).required();
  verb.option("STREAM", request.stream, "stdout or stderr").one_of({"stdout", "stderr"});
  add_options(cli, verb, request);

  auto& own = cli.keep<TailRequest>();
  own.stream = "log";
  add_options(cli, cli.verb("maintail", "the end of the daemon's own log"), own);
}

}  // namespace trainward::ctl
