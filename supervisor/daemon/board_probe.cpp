#include "supervisor/daemon/board_probe.hpp"

#include <spdlog/spdlog.h>

#include "common/clock.hpp"

namespace trainward::daemon {
namespace {

// Longer than every stage's own deadline together.
constexpr std::int64_t deadline_ms = 30'000;
// And with what tt-smi may take.
constexpr std::int64_t deep_deadline_ms = deadline_ms + 125'000;

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

Status record(store::Store& store, const Result<hwprobe::Report>& report, Time at,
              std::int64_t duration_ms) {
  if (!report) return store.add_probe(at.wall_ms, "", "", duration_ms, report.error().message());
  auto recorded = store.add_probe(at.wall_ms, report->source,
                                  json::serialize(hwprobe::to_json(*report)), duration_ms, "");
  for (const hwprobe::Board& board : report->boards) {
    if (!recorded) break;
    recorded = store.put_board(
        board.serial, board.type, board.bus_id, std::string(hwprobe::to_string(board.verdict)),
        board.evidence.empty() ? "" : board.evidence.front().what, at.wall_ms);
  }
  return recorded;
}

}  // namespace

std::unique_ptr<ChildProcess> probe_boards(Loop& loop, const Paths& paths,
                                           const std::optional<std::filesystem::path>& host,
                                           store::Store& store,
                                           std::function<void(Result<hwprobe::Report>)> done,
                                           const ProbeHow& how) {
  std::vector<std::string> argv{paths.program("trainward-probe").string(), "--json"};
  if (host) argv.insert(argv.end(), {"--source", "described", "--host", host->string()});
  if (how.deep) argv.emplace_back("--deep");
  return std::make_unique<ChildProcess>(
      loop, std::move(argv), how.deep ? deep_deadline_ms : deadline_ms,
      [&store, recorded = how.recorded, began = now().mono_ms,
       done = std::move(done)](Result<ChildResult> result) {
        auto report = read_report(std::move(result));
        const Time at = now();
        if (recorded) {
          if (auto ok = record(store, report, at, at.mono_ms - began); !ok) {
            spdlog::warn("the probe was not recorded: {}", ok.error().message());
          }
        }
        done(std::move(report));
      });
}

}  // namespace trainward::daemon
