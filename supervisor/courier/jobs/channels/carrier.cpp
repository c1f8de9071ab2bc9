#include "supervisor/courier/jobs/channels/carrier.hpp"

#include <fmt/format.h>

#include "supervisor/courier/jobs/channels/channel_program.hpp"

namespace trainward::courier {
namespace {

constexpr std::int64_t most_of_a_program_ms = 30'000;

Outcome carry_request(orders::ChannelKind kind, const net::Request& request,
                      const net::Settings& network, const std::stop_token& stop,
                      std::int64_t now_ms) {
  // A message comes rarely: a connection that is kept would only be one that has died.
  net::HttpClient client(network, stop);
  const auto answer = client.send(request);
  if (answer) {
    Outcome out{verdict_on(kind, *answer, now_ms)};
    if (!out.verdict.words.empty()) {
      out.verdict.words = fmt::format("{}: {}", net::shown_host(request.url), out.verdict.words);
    }
    return out;
  }
  // A certificate may be put right without a word to us, so it is tried again like a lost line; an
  // answer that makes no sense may come from a proxy that will be gone.
  const bool never = answer.error().kind == ErrorKind::usage;
  return {{never ? Verdict::Kind::never : Verdict::Kind::again, answer.error().message(), {}},
          client.request_was_sent(),
          stop.stop_requested()};
}

Outcome carry_program(orders::ChannelKind kind, const ProgramCall& call,
                      const std::stop_token& stop) {
  const auto end = run_program(call, most_of_a_program_ms, stop);
  if (!end) {
    const bool stopped = stop.stop_requested();
    return {{Verdict::Kind::again, end.error().message(), {}}, stopped, stopped};
  }
  const std::string& program = call.arguments.front();
  switch (end->kind) {
    case ProgramEnd::Kind::exited: {
      Outcome out{verdict_on_exit(kind, end->status)};
      if (!out.verdict.words.empty()) out.verdict.words = program + ": " + out.verdict.words;
      return out;
    }
    case ProgramEnd::Kind::killed:
      return {{Verdict::Kind::never,
               fmt::format("{}: the program was ended by signal {}", program, end->status),
               {}},
              true,
              false};
    case ProgramEnd::Kind::too_slow:
      break;
  }
  // Mail that waits for its server is worth another try; a command has had its chance.
  const auto next = kind == orders::ChannelKind::mail ? Verdict::Kind::again : Verdict::Kind::never;
  return {{next, program + ": the program took longer than 30 s and was ended", {}}, true, false};
}

}  // namespace

Outcome carry(orders::ChannelKind kind, const Call& call, const net::Settings& network,
              const std::stop_token& stop, std::int64_t now_ms) {
  if (const auto* request = std::get_if<net::Request>(&call)) {
    return carry_request(kind, *request, network, stop, now_ms);
  }
  return carry_program(kind, std::get<ProgramCall>(call), stop);
}

}  // namespace trainward::courier
