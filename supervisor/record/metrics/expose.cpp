#include "supervisor/record/metrics/expose.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "supervisor/decide/core/cause.hpp"
#include "supervisor/decide/core/phase.hpp"
#include "supervisor/decide/core/shown.hpp"
#include "supervisor/record/metrics/exposition.hpp"

namespace trainward::metrics {
namespace {

constexpr std::array<std::string_view, 3> checkpoint_states{"verified", "corrupt", "pruned"};

double seconds(std::int64_t ms) { return static_cast<double>(ms) / 1000.0; }
double number(std::int64_t value) { return static_cast<double>(value); }

template <typename Value>
void put(Exposition& out, std::initializer_list<std::string_view> labels,
         const std::optional<Value>& value) {
  if (value) out.sample(labels, static_cast<double>(*value));
}

// Those of the table that an attempt may end with, and whatever else was recorded.
void expose_ends(Exposition& out, const ProgramFigures& program) {
  for (const core::CauseFacts& row : core::causes) {
    if (row.cause == core::Cause::none || row.cause >= core::Cause::no_board) continue;
    const auto found = program.ended.find(std::string(row.name));
    out.sample({program.name, row.name}, found == program.ended.end() ? 0 : number(found->second));
  }
  for (const auto& [cause, count] : program.ended) {
    core::Cause known{};
    const bool shown = core::from_string(cause, known) && known != core::Cause::none &&
                       known < core::Cause::no_board;
    if (!shown) out.sample({program.name, cause}, number(count));
  }
}

void expose_time(Exposition& out, const ProgramFigures& program) {
  for (const std::string_view phase : core::phase_names) {
    const bool there = std::ranges::any_of(program.spent, [&](const Spent& spent) {
      return spent.phase == phase && spent.cause.empty();
    });
    if (!there) out.sample({program.name, phase, ""}, 0);
  }
  for (const Spent& spent : program.spent) {
    out.sample({program.name, spent.phase, spent.cause}, spent.seconds);
  }
}

void expose_states(Exposition& out, const ProgramFigures& program) {
  for (const core::ShownFacts& state : core::shown_states) {
    out.sample({program.name, state.name}, state.shown == program.state ? 1 : 0);
  }
}

void expose_checkpoints(Exposition& out, const ProgramFigures& program) {
  for (const std::string_view state : checkpoint_states) {
    const auto found = program.checkpoints.find(std::string(state));
    out.sample({program.name, state},
               found == program.checkpoints.end() ? 0 : number(found->second));
  }
}

// To base units.
double scale_of(FigureUnit unit) { return unit == FigureUnit::ms ? 0.001 : 1; }

void expose_programs(Exposition& out, const std::vector<ProgramFigures>& programs) {
  const auto each = [&](Metric metric, auto expose_one) {
    out.family(metric);
    for (const ProgramFigures& program : programs) expose_one(program);
  };
  const auto whole = [&](Metric metric, std::int64_t ProgramFigures::*value) {
    each(metric, [&](const ProgramFigures& p) { out.sample({p.name}, number(p.*value)); });
  };
  const auto maybe = [&](Metric metric, auto ProgramFigures::*value) {
    each(metric, [&](const ProgramFigures& p) { put(out, {p.name}, p.*value); });
  };
  const auto time = [&](Metric metric, std::optional<std::int64_t> ProgramFigures::*value) {
    each(metric, [&](const ProgramFigures& p) {
      if (p.*value) out.sample({p.name}, seconds(*(p.*value)));
    });
  };
  using P = ProgramFigures;
  each(Metric::program_state, [&](const P& p) { expose_states(out, p); });
  each(Metric::wanted, [&](const P& p) { out.sample({p.name}, p.wanted ? 1 : 0); });
  each(Metric::phase_seconds, [&](const P& p) { expose_time(out, p); });
  maybe(Metric::effective_share, &P::effective_share);
  each(Metric::attempts_ended, [&](const P& p) { expose_ends(out, p); });
  whole(Metric::attempt, &P::attempt);
  whole(Metric::step, &P::step);
  whole(Metric::kept_step, &P::kept_step);
  each(Metric::target_step, [&](const P& p) {
    if (p.target_step > 0) out.sample({p.name}, number(p.target_step));
  });
  time(Metric::kept_step_timestamp, &P::kept_ms);
  time(Metric::last_step_timestamp, &P::step_ms);
  whole(Metric::steps_kept, &P::steps_kept);
  whole(Metric::steps_lost, &P::steps_lost);
  whole(Metric::steps_replayed, &P::steps_replayed);
  for (std::size_t i = 0; i < step_figures.size(); ++i) {
    const StepFigure& figure = step_figures.at(i);
    each(metric_of(i), [&](const P& p) {
      const auto value = value_of(p.told, figure);
      if (value) out.sample({p.name}, *value * scale_of(figure.unit));
    });
  }
  for (std::size_t i = 0; i < device_figures.size(); ++i) {
    const DeviceFigure& figure = device_figures.at(i);
    each(device_metric_of(i), [&](const P& p) {
      for (const ToldDevice& device : p.devices) {
        const auto value = value_at(device.figures, figure.member);
        if (value) out.sample({p.name, device.name}, *value * scale_of(figure.unit));
      }
    });
  }
  maybe(Metric::evaluation_loss, &P::evaluation_loss);
  maybe(Metric::tokens_processed, &P::tokens_processed);
  maybe(Metric::steps_per_second, &P::steps_per_second);
  each(Metric::checkpoints, [&](const P& p) { expose_checkpoints(out, p); });
  maybe(Metric::checkpoint_bytes, &P::checkpoint_bytes);
  time(Metric::checkpoint_save_seconds, &P::checkpoint_save_ms);
  each(Metric::compile_cache_requests, [&](const P& p) {
    out.sample({p.name, "hit"}, number(p.cache_hits));
    out.sample({p.name, "miss"}, number(p.cache_misses));
  });
}

void expose_host(Exposition& out, const HostFigures& host) {
  out.family(Metric::host_memory);
  put(out, {}, host.memory_bytes);
  out.family(Metric::host_memory_available);
  put(out, {}, host.available_bytes);
  out.family(Metric::host_cpu);
  put(out, {"busy"}, host.busy_seconds);
  put(out, {"idle"}, host.idle_seconds);
  put(out, {"iowait"}, host.iowait_seconds);
  out.family(Metric::host_stalled);
  put(out, {"cpu"}, host.stalled_cpu_seconds);
  put(out, {"io"}, host.stalled_io_seconds);
  put(out, {"memory"}, host.stalled_memory_seconds);
}

void expose_boards(Exposition& out, const std::vector<BoardFigures>& boards) {
  const auto each = [&](Metric metric, auto expose_one) {
    out.family(metric);
    for (const BoardFigures& board : boards) expose_one(board);
  };
  using B = BoardFigures;
  each(Metric::board_info, [&](const B& b) { out.sample({b.serial, b.type, b.bus_id}, 1); });
  each(Metric::board_usable, [&](const B& b) { out.sample({b.serial}, b.usable ? 1 : 0); });
  each(Metric::board_temperature, [&](const B& b) { put(out, {b.serial}, b.temperature_c); });
  each(Metric::board_temperature_limit, [&](const B& b) { put(out, {b.serial}, b.limit_c); });
  each(Metric::board_power, [&](const B& b) { put(out, {b.serial}, b.power_w); });
  each(Metric::board_clock, [&](const B& b) {
    if (b.clock_mhz) out.sample({b.serial}, number(*b.clock_mhz) * 1e6);
  });
  each(Metric::board_aer_errors, [&](const B& b) {
    put(out, {b.serial, "correctable"}, b.aer_correctable);
    put(out, {b.serial, "nonfatal"}, b.aer_nonfatal);
    put(out, {b.serial, "fatal"}, b.aer_fatal);
  });
}

void expose_courier(Exposition& out, const CourierFigures& courier) {
  out.family(Metric::notifications);
  for (const auto& channel : courier.channels) {
    for (const auto& [result, count] : channel.results) {
      out.sample({channel.name, result}, number(count));
    }
  }
  out.family(Metric::notification_queue);
  for (const auto& channel : courier.channels) out.sample({channel.name}, number(channel.waiting));
  const auto each = [&](Metric metric, auto expose_one) {
    out.family(metric);
    for (const auto& target : courier.targets) expose_one(target);
  };
  using T = CourierFigures::Target;
  each(Metric::upload_bytes, [&](const T& t) {
    out.sample({t.program, t.name}, number(t.sent_bytes));
  });
  each(Metric::uploaded_step, [&](const T& t) { put(out, {t.program, t.name}, t.step); });
  each(Metric::upload_failures, [&](const T& t) {
    out.sample({t.program, t.name}, number(t.failures));
  });
}

}  // namespace

std::string expose(const Snapshot& snapshot, Format format) {
  Exposition out(format);
  out.family(Metric::up);
  out.sample({}, snapshot.daemon ? 1 : 0);
  out.family(Metric::build_info);
  out.sample({snapshot.version}, 1);
  if (snapshot.daemon) {
    out.family(Metric::start_time);
    out.sample({}, seconds(snapshot.daemon->started_ms));
    out.family(Metric::loop_lag);
    out.sample({}, snapshot.daemon->loop_lag_seconds);
  }
  out.family(Metric::disk_free);
  for (const DiskFigures& disk : snapshot.disks) {
    out.sample({disk.folder, disk.program}, static_cast<double>(disk.free_bytes));
  }
  expose_host(out, snapshot.host);
  expose_programs(out, snapshot.programs);
  expose_boards(out, snapshot.boards);
  if (snapshot.courier) expose_courier(out, *snapshot.courier);
  return std::move(out).take();
}

}  // namespace trainward::metrics
