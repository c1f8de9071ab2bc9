#include "supervisor/daemon/boards/board_probe.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "common/os/clock.hpp"

namespace trainward::daemon {
namespace {

// Longer than every stage's own deadline together.
constexpr std::int64_t own_deadline_ms = 30'000;
// And with what tt-smi may take.
constexpr std::int64_t deep_deadline_ms = own_deadline_ms + 125'000;
// nvidia-smi takes that long on a box with many GPUs that nobody uses.
constexpr std::int64_t command_deadline_ms = 60'000;

std::int64_t deadline_of(const ProbeOrder& order) {
  if (!order.command.empty()) return command_deadline_ms;
  return order.deep ? deep_deadline_ms : own_deadline_ms;
}

Result<hwprobe::Report> read_report(Result<ChildResult> result, const std::string& name,
                                    bool of_command) {
  if (!result) return propagate(result);
  const auto failed = [&] {
    std::string_view said = result->standard_error;
    // What complains names itself, and so does the error.
    if (said.starts_with(name + ": ")) said.remove_prefix(name.size() + 2);
    return fail(ErrorKind::permanent,
                said.empty() ? fmt::format("gave no report (exit code {})", result->exit_code)
                             : std::string(said),
                name);
  };
  if (of_command && (result->exit_code < 0 || result->exit_code > 3)) return failed();
  auto value = parse_json(result->standard_output, name);
  if (!value) return failed();
  auto report = hwprobe::report_from_json(*value);
  if (!report && of_command) {
    return fail(ErrorKind::permanent, "printed no report: " + report.error().message(), name);
  }
  return report;
}

// Ours are found last, so that nothing of the operator's is hidden by them.
Environment with_our_programs(const Paths& paths) {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  std::string& path = environment["PATH"];
  if (path.empty()) path = "/usr/local/bin:/usr/bin:/bin";
  path += ":" + paths.programs.string();
  return environment;
}

Status record(store::Store& store, const Result<hwprobe::Report>& report, Time at,
              std::int64_t duration_ms) {
  if (!report) return store.add_probe(at.wall.ms, "", "", duration_ms, report.error().message());
  auto recorded = store.add_probe(at.wall.ms, report->source,
                                  json::serialize(hwprobe::to_json(*report)), duration_ms, "");
  for (const hwprobe::Board& board : report->boards) {
    if (!recorded) break;
    recorded = store.put_board(
        board.serial, board.type, board.bus_id, std::string(hwprobe::to_string(board.verdict)),
        board.evidence.empty() ? "" : board.evidence.front().what, at.wall.ms);
  }
  return recorded;
}

}  // namespace

std::unique_ptr<ChildProcess> probe_boards(Loop& loop, const Paths& paths, const ProbeOrder& order,
                                           store::Store& store,
                                           std::function<void(Result<hwprobe::Report>)> done) {
  const bool of_command = !order.command.empty();
  std::vector<std::string> argv;
  std::optional<Environment> environment;
  if (of_command) {
    for (const foreign::Template& word : order.command) argv.push_back(word.fill({}).text);
    environment = with_our_programs(paths);
  } else {
    argv = {paths.program("trainward-probe").string(), "--json"};
    if (order.host) argv.insert(argv.end(), {"--source", "described", "--host", *order.host});
    if (order.deep) argv.emplace_back("--deep");
  }
  const std::string name = of_command ? argv.front() : "trainward-probe";
  return std::make_unique<ChildProcess>(
      loop, std::move(argv), deadline_of(order),
      [&store, name, of_command, recorded = order.recorded, began = now().mono,
       done = std::move(done)](Result<ChildResult> result) {
        auto report = read_report(std::move(result), name, of_command);
        const Time at = now();
        if (recorded) {
          if (auto ok = record(store, report, at, at.mono - began); !ok) {
            spdlog::warn("the probe was not recorded: {}", ok.error().message());
          }
        }
        done(std::move(report));
      },
      environment);
}

}  // namespace trainward::daemon
