#include "supervisor/daemon/boards/board_watch.hpp"

#include <spdlog/spdlog.h>

#include "common/os/clock.hpp"
#include "hwprobe/watch/sample.hpp"
#include "supervisor/decide/core/weight.hpp"

namespace trainward::daemon {
namespace {

constexpr std::int64_t thin_every_ms = 3'600'000;

// As heavy as the kernel's own word on the same (docs/architecture.md, host evidence).
core::HostFact fact_of(const hwprobe::SampleFinding& finding, std::string text) {
  namespace weight = core::weight;
  using hwprobe::Sign;
  core::HostFact fact{"board watch", weight::shown_only, core::Cause::unknown, std::move(text)};
  switch (finding.sign) {
    case Sign::gone:
    case Sign::frozen:
      fact.weight = weight::symptom;
      fact.cause = core::Cause::device_lost;
      break;
    case Sign::fatal:
      fact.weight = weight::general;
      fact.cause = core::Cause::device_lost;
      break;
    case Sign::hot:
      fact.weight = weight::slight;
      break;
    case Sign::throttling:
    case Sign::link:
      break;
  }
  return fact;
}

std::vector<std::string> command(const Paths& paths, const BoardWatch::Order& order,
                                 const std::string& board) {
  std::vector<std::string> argv{paths.program("trainward-probe").string(), "--stream",
                                std::to_string(order.every_ms)};
  if (order.host) argv.insert(argv.end(), {"--host", order.host->string()});
  if (order.root != "/") argv.insert(argv.end(), {"--root", order.root.string()});
  argv.push_back(board);
  return argv;
}

}  // namespace

BoardWatch::BoardWatch(Loop& loop, hwprobe::Processes& processes, const Paths& paths,
                       store::Store& store, Order order, Sink sink)
    : store_(store), order_(std::move(order)), sink_(std::move(sink)) {
  for (const WatchedBoard& board : order_.boards) {
    const std::string& name = order_.host ? board.serial : board.bus_id;
    if (name.empty()) continue;
    auto watched = std::make_unique<Watched>();
    watched->serial = board.serial;
    SampleStream::Settings settings;
    settings.argv = command(paths, order_, name);
    settings.name = name;
    settings.memory = paths.board_watch();
    settings.silence_ms = order_.every_ms + order_.patience_ms;
    settings.kill_grace_ms = order_.kill_grace_ms;
    watched->stream = std::make_unique<SampleStream>(
        loop, processes, std::move(settings),
        SampleStream::Listener{
            [this, board = watched.get()](std::string_view line) { take(*board, line); },
            [this, serial = board.serial](const SampleStream::Trouble& trouble) {
              // A read that comes back late is what a reset looks like; one that never does is not.
              sink_({"board watch", trouble.stuck ? 45 : 15,
                     trouble.stuck ? core::Cause::device_lost : core::Cause::unknown,
                     fmt::format("board {}: {}", serial, trouble.text)});
            }});
    watched_.push_back(std::move(watched));
  }
}

BoardWatch::~BoardWatch() = default;

void BoardWatch::take(Watched& watched, std::string_view line) {
  const auto value = parse_json(line, "trainward-probe");
  const auto sample = value ? hwprobe::sample_from_json(*value)
                            : Result<hwprobe::Sample>(tl::unexpected<Error>(value.error()));
  if (!sample) return spdlog::debug("{}: {}", order_.program, sample.error().message());
  const Time at = now();
  // However fast it talks, the database takes no more than was asked for.
  if (watched.taken_at != MonoTime{} && at.mono - watched.taken_at < order_.every_ms / 2) return;
  watched.taken_at = at.mono;
  if (hwprobe::says_something(*sample)) record(watched, *sample, at);
  for (const hwprobe::SampleFinding& finding : watched.judge.take(*sample, at.mono.ms)) {
    tell(watched, finding, at);
  }
}

void BoardWatch::record(Watched& watched, const hwprobe::Sample& sample, Time at) {
  const auto written = write(watched, sample, at);
  if (!written && !refused_) {
    spdlog::warn("{}: samples of boards are not recorded: {}", order_.program,
                 written.error().message());
  }
  refused_ = !written;
}

Status BoardWatch::write(Watched& watched, const hwprobe::Sample& sample, Time at) {
  // No wait for the disk: a sample that a power cut takes is no loss.
  auto transaction = store_.begin(store::Store::Survives::process);
  if (!transaction) return propagate(transaction);
  store::BoardSampleRow row;
  row.serial = watched.serial;
  row.at_ms = at.wall.ms;
  row.program = order_.program;
  row.attempt = order_.attempt;
  row.temperature_c = sample.temperature_c;
  row.limit_c = sample.limit_c;
  row.power_w = sample.power_w;
  row.voltage_v = sample.voltage_v;
  row.current_a = sample.current_a;
  row.clock_mhz = sample.clock_mhz;
  row.heartbeat = sample.heartbeat;
  row.aer_correctable = sample.aer_correctable;
  row.aer_nonfatal = sample.aer_nonfatal;
  row.aer_fatal = sample.aer_fatal;
  if (auto added = store_.add_board_sample(row); !added) return added;
  if (watched.thinned_at == MonoTime{} || at.mono - watched.thinned_at >= thin_every_ms) {
    if (auto thinned = store_.thin_board_samples(watched.serial, at.wall.ms); !thinned) {
      return thinned;
    }
    watched.thinned_at = at.mono;
  }
  return transaction->commit();
}

void BoardWatch::tell(const Watched& watched, const hwprobe::SampleFinding& finding, Time at) {
  std::string text = fmt::format("board {}: {}", watched.serial, finding.text);
  if (!finding.over) return sink_(fact_of(finding, std::move(text)));
  spdlog::info("{}: {}", order_.program, text);
  const auto noted =
      store_.add_event({0, at.wall.ms, order_.program, order_.attempt, "board", std::move(text)});
  if (!noted) spdlog::warn("{}: {}", order_.program, noted.error().message());
}

}  // namespace trainward::daemon
