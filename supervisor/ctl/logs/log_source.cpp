#include "supervisor/ctl/logs/log_source.hpp"

#include <charconv>

#include "common/wire/launch.hpp"
#include "common/wire/log_files.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/process/containment/attempt_facts.hpp"

namespace trainward::ctl {
namespace {

std::int64_t header(const Response& response, const std::string& name) {
  std::int64_t number = 0;
  const auto found = response.headers.find(name);
  if (found == response.headers.end()) return 0;
  const std::string& text = found->second;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() && number > 0 ? number : 0;
}

std::string log_target(const LogQuery& query) {
  std::string target = target_of(query.program, "log") + "?";
  if (!query.program.empty()) target += fmt::format("stream={}&", query.stream);
  target += fmt::format("offset={}&limit={}", query.offset, query.limit);
  if (query.attempt > 0) target += fmt::format("&attempt={}", query.attempt);
  return target;
}

// Of the newest attempt whose worker was started, or of the one that is asked for.
Answer<LogPiece> from_files(const Context& context, const LogQuery& query, ClientError daemon) {
  const auto attempts = context.settings.state_dir / "runs" / query.program / "attempts";
  const auto folders = containment::attempt_folders(attempts);
  std::string file =
      query.stream == "stdout" ? attempt_files::standard_output : attempt_files::standard_error;
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
    if (query.attempt > 0 && folder->number != query.attempt) continue;
    auto range = read_log(folder->folder / file, query.offset, query.limit);
    if (!range && query.attempt == 0) continue;
    if (!range) return tl::unexpected<Failure>({exit_status::failed, std::move(range.error())});
    return LogPiece{std::move(range->bytes), range->begin, range->end, folder->number, true};
  }
  daemon.error.what += fmt::format(", and there is no log of {} in {}", query.program,
                                   context.settings.state_dir.string());
  return tl::unexpected<Failure>({exit_status::unreachable, std::move(daemon.error)});
}

}  // namespace

Answer<LogPiece> read_log_piece(const Context& context, const LogQuery& query,
                                std::chrono::milliseconds deadline) {
  auto response = client_of(context).request(Method::get, log_target(query), deadline);
  if (response) {
    const std::int64_t offset = header(*response, "x-log-offset");
    const std::int64_t size = header(*response, "x-log-size");
    const std::int64_t attempt = header(*response, "x-log-attempt");
    return LogPiece{std::move(response->body), offset, size, attempt, false};
  }
  // A name is one word of a path; what else it could be has no log.
  const bool is_name = !query.program.empty() && query.program != "." && query.program != ".." &&
                       query.program.find('/') == std::string::npos;
  if (context.settings.is_here() && is_name && nobody_answers(response.error())) {
    return from_files(context, query, std::move(response.error()));
  }
  return tl::unexpected<Failure>(failure_of(response.error()));
}

}  // namespace trainward::ctl
