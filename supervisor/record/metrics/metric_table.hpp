// Every metric there is: its name, its type, its labels, and what it says.
//
// This table, with those of step_figures.hpp and device_figures.hpp, is the only list. What is
// exposed is made from it, and docs/metrics.md, the rules and the dashboard are compared with it.
// Names and labels never change their meaning. A unit is the end of the name, before `_total`. No
// label has more values than a program has causes: attempts, steps, paths and reasons are not among
// them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "common/protocol/device_figures.hpp"
#include "common/protocol/step_figures.hpp"

namespace trainward::metrics {

enum class Metric : std::uint8_t {
  // ---- the daemon and its host
  up,
  build_info,
  start_time,
  loop_lag,
  disk_free,
  host_memory,
  host_memory_available,
  host_cpu,
  host_stalled,
  // ---- a program
  program_state,
  wanted,
  phase_seconds,
  effective_share,
  attempts_ended,
  attempt,
  step,
  kept_step,
  target_step,
  kept_step_timestamp,
  last_step_timestamp,
  steps_kept,
  steps_lost,
  steps_replayed,
  evaluation_loss,
  tokens_processed,
  steps_per_second,
  checkpoints,
  checkpoint_bytes,
  checkpoint_save_seconds,
  compile_cache_requests,
  // ---- a board
  board_info,
  board_usable,
  board_temperature,
  board_temperature_limit,
  board_power,
  board_clock,
  board_aer_errors,
  // ---- what is told and brought off the box
  notifications,
  notification_queue,
  upload_bytes,
  uploaded_step,
  upload_failures,
  // ---- a figure of the program's newest step: the first; the others follow in their order, and
  // after them those of its devices
  step_figures,
};

enum class Type : std::uint8_t { gauge, counter };

constexpr std::string_view to_string(Type type) {
  return type == Type::counter ? "counter" : "gauge";
}

struct Labels {
  std::array<std::string_view, 3> names{};
  std::size_t size = 0;

  constexpr Labels() = default;
  constexpr Labels(std::initializer_list<std::string_view> list) : size(list.size()) {
    std::ranges::copy(list, names.begin());
  }
  [[nodiscard]] constexpr const std::string_view* begin() const { return names.data(); }
  [[nodiscard]] constexpr const std::string_view* end() const { return names.data() + size; }
};

struct MetricFacts {
  Metric metric = Metric::up;
  std::string_view name;  // as samples have it: counters end in _total
  Type type = Type::gauge;
  std::string_view unit;  // of OpenMetrics; empty: none
  Labels labels;
  std::string_view help;  // neither quotes, backslashes nor line ends
};

// What OpenMetrics calls the family: a counter's name without _total.
constexpr std::string_view family_of(const MetricFacts& facts) {
  constexpr std::string_view total = "_total";
  return facts.type == Type::counter ? facts.name.substr(0, facts.name.size() - total.size())
                                     : facts.name;
}

inline constexpr std::array<MetricFacts, 42> own_rows{{
    {Metric::up,
     "trainward_up",
     Type::gauge,
     "",
     {},
     "1: trainwardd said this itself. 0: it did not answer, and this is what its database has."},
    {Metric::build_info,
     "trainward_build_info",
     Type::gauge,
     "",
     {"version"},
     "Always 1; the label says which version answered."},
    {Metric::start_time,
     "trainward_start_time_seconds",
     Type::gauge,
     "seconds",
     {},
     "When this trainwardd started, as Unix time."},
    {Metric::loop_lag,
     "trainward_loop_lag_seconds",
     Type::gauge,
     "seconds",
     {},
     "The longest that anything had to wait for trainwardd in the last minute."},
    {Metric::disk_free,
     "trainward_disk_free_bytes",
     Type::gauge,
     "bytes",
     {"folder", "program"},
     "Room for trainwardd's user on the disk of the state folder (folder=state) and of each "
     "program's checkpoints (folder=checkpoints). Absent while the disk does not answer."},
    {Metric::host_memory,
     "trainward_host_memory_bytes",
     Type::gauge,
     "bytes",
     {},
     "Memory that the machine has."},
    {Metric::host_memory_available,
     "trainward_host_memory_available_bytes",
     Type::gauge,
     "bytes",
     {},
     "Memory that programs can still get without swapping, as the kernel estimates it."},
    {Metric::host_cpu,
     "trainward_host_cpu_seconds_total",
     Type::counter,
     "seconds",
     {"mode"},
     "Time of all processors since the machine started: at work (mode=busy), with nothing to do "
     "(mode=idle), or waiting for disks (mode=iowait)."},
    {Metric::host_stalled,
     "trainward_host_stalled_seconds_total",
     Type::counter,
     "seconds",
     {"resource"},
     "Time in which something had to wait for a resource (cpu, io, memory) since the machine "
     "started; absent where the kernel has no /proc/pressure."},
    {Metric::program_state,
     "trainward_program_state",
     Type::gauge,
     "",
     {"program", "state"},
     "1 for the state that the program is in, 0 for every other."},
    {Metric::wanted,
     "trainward_wanted",
     Type::gauge,
     "",
     {"program"},
     "1: the operator wants it to run. 0: it was stopped, is done, or was given up."},
    {Metric::phase_seconds,
     "trainward_phase_seconds_total",
     Type::counter,
     "seconds",
     {"program", "phase", "cause"},
     "Where the time went, the present phase included. Steps that were lost stay in stepping, and "
     "doing them again is replaying."},
    {Metric::effective_share,
     "trainward_effective_share",
     Type::gauge,
     "",
     {"program"},
     "Share of all its time, since the run began, in which it did steps for the first time (0 to "
     "1)."},
    {Metric::attempts_ended,
     "trainward_attempts_ended_total",
     Type::counter,
     "",
     {"program", "cause"},
     "Attempts that have ended, by why."},
    {Metric::attempt,
     "trainward_attempt",
     Type::gauge,
     "",
     {"program"},
     "Number of the newest attempt; 0 before the first one."},
    {Metric::step,
     "trainward_step",
     Type::gauge,
     "",
     {"program"},
     "The newest step that was finished; it goes back when steps are lost."},
    {Metric::kept_step,
     "trainward_kept_step",
     Type::gauge,
     "",
     {"program"},
     "The newest step in a verified checkpoint."},
    {Metric::target_step,
     "trainward_target_step",
     Type::gauge,
     "",
     {"program"},
     "Where the run ends; absent where nobody said."},
    {Metric::kept_step_timestamp,
     "trainward_kept_step_timestamp_seconds",
     Type::gauge,
     "seconds",
     {"program"},
     "When the newest verified checkpoint was put on record, as Unix time; before the first one, "
     "of "
     "a program that is told where to go on, when its first attempt began."},
    {Metric::last_step_timestamp,
     "trainward_last_step_timestamp_seconds",
     Type::gauge,
     "seconds",
     {"program"},
     "When the newest step was finished, as Unix time."},
    {Metric::steps_kept,
     "trainward_steps_kept_total",
     Type::counter,
     "",
     {"program"},
     "Steps that ended attempts have left behind in checkpoints. What the present one has kept "
     "shows in trainward_kept_step."},
    {Metric::steps_lost,
     "trainward_steps_lost_total",
     Type::counter,
     "",
     {"program"},
     "Steps that ended attempts have done and lost."},
    {Metric::steps_replayed,
     "trainward_steps_replayed_total",
     Type::counter,
     "",
     {"program"},
     "Steps that ended attempts have done again."},
    {Metric::evaluation_loss,
     "trainward_evaluation_loss",
     Type::gauge,
     "",
     {"program"},
     "Loss of the newest evaluation on held-out data; NaN where it was no number."},
    {Metric::tokens_processed,
     "trainward_tokens_processed_total",
     Type::counter,
     "",
     {"program"},
     "Tokens trained on by all attempts, those of lost and replayed steps included. Absent where "
     "the program tells none, or rows of its steps were thinned out."},
    {Metric::steps_per_second,
     "trainward_steps_per_second",
     Type::gauge,
     "",
     {"program"},
     "Over the newest 16 steps that were told; absent while nothing runs."},
    {Metric::checkpoints,
     "trainward_checkpoints",
     Type::gauge,
     "",
     {"program", "state"},
     "Checkpoints on record, by what has become of them."},
    {Metric::checkpoint_bytes,
     "trainward_checkpoint_bytes",
     Type::gauge,
     "bytes",
     {"program"},
     "Size of the newest verified checkpoint."},
    {Metric::checkpoint_save_seconds,
     "trainward_checkpoint_save_seconds",
     Type::gauge,
     "seconds",
     {"program"},
     "For how long training stood still for the newest save."},
    {Metric::compile_cache_requests,
     "trainward_compile_cache_requests_total",
     Type::counter,
     "",
     {"program", "result"},
     "Programs for the device that the cache had (result=hit) or that had to be compiled "
     "(result=miss)."},
    {Metric::board_info,
     "trainward_board_info",
     Type::gauge,
     "",
     {"serial", "type", "bus_id"},
     "Always 1; the labels say what the board is, and where."},
    {Metric::board_usable,
     "trainward_board_usable",
     Type::gauge,
     "",
     {"serial"},
     "1: at the newest look a program could be placed on it, or one ran on it already."},
    {Metric::board_temperature,
     "trainward_board_temperature_celsius",
     Type::gauge,
     "celsius",
     {"serial"},
     "Newest sample of the program that runs on the board; absent while none does."},
    {Metric::board_temperature_limit,
     "trainward_board_temperature_limit_celsius",
     Type::gauge,
     "celsius",
     {"serial"},
     "Where the board slows itself down, as it says."},
    {Metric::board_power,
     "trainward_board_power_watts",
     Type::gauge,
     "watts",
     {"serial"},
     "Newest sample, as of the temperature."},
    {Metric::board_clock,
     "trainward_board_clock_hertz",
     Type::gauge,
     "hertz",
     {"serial"},
     "Newest sample, as of the temperature."},
    {Metric::board_aer_errors,
     "trainward_board_aer_errors_total",
     Type::counter,
     "",
     {"serial", "severity"},
     "Errors on the board's PCI Express link, as the kernel counts them since the machine "
     "started."},
    {Metric::notifications,
     "trainward_notifications_total",
     Type::counter,
     "",
     {"channel", "result"},
     "Messages to people, by what became of them."},
    {Metric::notification_queue,
     "trainward_notification_queue",
     Type::gauge,
     "",
     {"channel"},
     "Messages that are due and wait to be sent."},
    {Metric::upload_bytes,
     "trainward_upload_bytes_total",
     Type::counter,
     "bytes",
     {"program", "target"},
     "Bytes of checkpoints that were sent."},
    {Metric::uploaded_step,
     "trainward_uploaded_step",
     Type::gauge,
     "",
     {"program", "target"},
     "The newest step that lies at the target whole."},
    {Metric::upload_failures,
     "trainward_upload_failures_total",
     Type::counter,
     "",
     {"program", "target"},
     "Tries to upload that failed."},
}};

constexpr Metric metric_of(std::size_t figure) {
  return static_cast<Metric>(static_cast<std::size_t>(Metric::step_figures) + figure);
}
// Those of devices follow the steps' ones.
constexpr Metric device_metric_of(std::size_t figure) {
  return metric_of(trainward::step_figures.size() + figure);
}
constexpr std::string_view base_unit(FigureUnit unit) {
  return unit == FigureUnit::bytes ? "bytes" : unit == FigureUnit::ms ? "seconds" : "";
}

inline constexpr auto table = [] {
  std::array<MetricFacts,
             own_rows.size() + trainward::step_figures.size() + trainward::device_figures.size()>
      all{};
  std::ranges::copy(own_rows, all.begin());
  for (std::size_t i = 0; i < trainward::step_figures.size(); ++i) {
    const StepFigure& figure = trainward::step_figures[i];
    all[own_rows.size() + i] = {metric_of(i),           figure.metric, Type::gauge,
                                base_unit(figure.unit), {"program"},   figure.help};
  }
  for (std::size_t i = 0; i < trainward::device_figures.size(); ++i) {
    const DeviceFigure& figure = trainward::device_figures[i];
    all[own_rows.size() + trainward::step_figures.size() + i] = {
        device_metric_of(i),    figure.metric,         Type::gauge,
        base_unit(figure.unit), {"program", "device"}, figure.help};
  }
  return all;
}();

constexpr const MetricFacts& facts(Metric metric) {
  return table.at(static_cast<std::size_t>(metric));
}

static_assert(std::ranges::all_of(table, [](const MetricFacts& row) {
  return &facts(row.metric) == &row;
}));

}  // namespace trainward::metrics
