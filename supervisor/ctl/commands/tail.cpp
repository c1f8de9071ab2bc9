// tail: the last bytes of a log, and then, with -f, whatever comes, across attempts.
#include <charconv>
#include <chrono>
#include <thread>

#include "supervisor/ctl/cli.hpp"
#include "supervisor/ctl/source.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {
namespace {

struct TailRequest {
  std::string program;
  std::string stream = "stdout";
  std::int64_t bytes = 1600;
  bool follow = false;  // until interrupted, across attempts
};

constexpr std::int64_t chunk_bytes = 1 << 20;
constexpr std::chrono::milliseconds poll_interval{250};

struct Piece {
  std::string bytes;
  std::int64_t offset = 0;   // of bytes[0]
  std::int64_t size = 0;     // of the whole log
  std::int64_t attempt = 0;  // whose log
};

std::int64_t header(const Response& response, const std::string& name) {
  std::int64_t number = 0;
  const auto found = response.headers.find(name);
  if (found == response.headers.end()) return 0;
  const std::string& text = found->second;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() && number > 0 ? number : 0;
}

// attempt 0: the newest.
Reply<Piece> read_piece(const Client& client, const TailRequest& request, std::int64_t attempt,
                        std::int64_t offset, std::int64_t limit) {
  std::string target = fmt::format("/v1/programs/{}/log?stream={}&offset={}&limit={}",
                                   percent_encoded(request.program), request.stream, offset, limit);
  if (attempt > 0) target += fmt::format("&attempt={}", attempt);
  auto response = client.request(Method::get, target, short_deadline);
  if (!response) return tl::unexpected<ClientError>(std::move(response.error()));
  const std::int64_t size = header(*response, "x-log-size");
  const std::int64_t whose = header(*response, "x-log-attempt");
  return Piece{std::move(response->body), header(*response, "x-log-offset"), size, whose};
}

// Never returns success: it ends when interrupted or when the daemon goes away.
ClientError follow(const Context& context, const Client& client, const TailRequest& request,
                   const Piece& last) {
  std::int64_t attempt = last.attempt;
  std::int64_t offset = last.size;
  for (;;) {
    auto piece = read_piece(client, request, attempt, offset, chunk_bytes);
    if (!piece) return std::move(piece.error());
    if (!piece->bytes.empty()) {
      context.terminal.out << piece->bytes;
      context.terminal.out.flush();
      offset = std::max(offset, piece->offset) + static_cast<std::int64_t>(piece->bytes.size());
      continue;
    }
    // Nothing more of this attempt; a later one goes on from its first byte.
    auto newest = read_piece(client, request, 0, 0, 1);
    if (!newest) return std::move(newest.error());
    if (newest->attempt > attempt) {
      attempt = newest->attempt;
      offset = 0;
      context.terminal.err << fmt::format("==> attempt {} <==\n", attempt);
      continue;
    }
    std::this_thread::sleep_for(poll_interval);
  }
}

int tail(const Context& context, const TailRequest& request) {
  const Client client(context.settings.socket_path());
  const std::int64_t wanted = std::min(request.bytes, chunk_bytes);
  // Offset 0 from the end would mean the beginning.
  auto piece = read_piece(client, request, 0, wanted > 0 ? -wanted : 0, wanted);
  if (!piece) return finish(context, failure_of(piece.error()));
  if (context.settings.json) {
    context.print_json({{"program", request.program},
                        {"stream", request.stream},
                        {"attempt", piece->attempt},
                        {"size", piece->size},
                        {"text", piece->bytes}});
    return exit_status::ok;
  }
  context.terminal.out << piece->bytes;
  context.terminal.out.flush();
  if (!request.follow) return exit_status::ok;
  return finish(context, failure_of(follow(context, client, request, *piece)));
}

}  // namespace

void add_tail(Cli& cli) {
  auto& request = cli.keep<TailRequest>();
  const Verb verb = cli.verb("tail", "the end of a program's log");
  verb.flag("-f,--follow", request.follow, "go on as it grows, across attempts");
  verb.option("--bytes", request.bytes, "how much; -N is short for it (1600)")
      .range(std::int64_t{0}, std::int64_t{1} << 20);
  verb.option("NAME", request.program).required();
  verb.option("STREAM", request.stream, "stdout or stderr").one_of({"stdout", "stderr"});
  cli.on(verb, request, tail, [&] {
    const bool both = request.follow && cli.settings.json;
    return both ? "--json: does not go with --follow" : "";
  });
}

}  // namespace trainward::ctl
