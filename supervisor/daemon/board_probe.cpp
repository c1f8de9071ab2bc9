#include "supervisor/daemon/board_probe.hpp"

namespace trainward::daemon {
namespace {

// Longer than every stage's own deadline together.
constexpr std::int64_t deadline_ms = 30'000;

Result<hwprobe::Report> read_report(Result<ChildResult> result) {
  if (!result) return propagate(result);
  auto value = parse_json(result->standard_output, "trainward-probe");
  if (!value) {
    return fail(ErrorKind::permanent,
                result->standard_error.empty()
                    ? fmt::format("gave no report (exit code {})", result->exit_code)
                    : result->standard_error,
                "trainward-probe");
  }
  return hwprobe::report_from_json(*value);
}

}  // namespace

std::unique_ptr<ChildProcess> probe_boards(Loop& loop, const Paths& paths,
                                           const std::optional<std::filesystem::path>& host,
                                           std::function<void(Result<hwprobe::Report>)> done) {
  std::vector<std::string> argv{paths.program("trainward-probe").string(), "--json"};
  if (host) argv.insert(argv.end(), {"--source", "described", "--host", host->string()});
  return std::make_unique<ChildProcess>(loop, std::move(argv), deadline_ms,
                                        [done = std::move(done)](Result<ChildResult> result) {
                                          done(read_report(std::move(result)));
                                        });
}

}  // namespace trainward::daemon
