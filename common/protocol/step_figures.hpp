// What a program may report of a training step: the one table of its figures.
//
// Whatever carries, keeps or shows a figure is made from this table or tested against it: the
// worker protocol, what is read from foreign output, the core's events, the database and its views,
// metrics, trackers, exports, `status`, `top` and the page. A new figure takes a member and a row
// here, a column (supervisor/record/store/schema), and the code that measures it.
#pragma once

#include <algorithm>
#include <array>
#include <boost/describe.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/protocol/figure.hpp"

namespace trainward {

// A figure that the program did not report is not there.
struct StepFigures {
  std::optional<double> loss = {};  // NaN or infinite where it was told and is not a number
  std::optional<double> grad_norm = {};
  std::optional<double> learning_rate = {};
  std::optional<std::int64_t> tokens = {};
  std::optional<double> tokens_per_second = {};
  std::optional<double> mfu = {};
  std::optional<double> communication = {};
  std::optional<std::int64_t> device_memory = {};
  std::optional<std::int64_t> device_memory_limit = {};
  std::optional<double> input_wait_ms = {};

  friend bool operator==(const StepFigures&, const StepFigures&) = default;
};
BOOST_DESCRIBE_STRUCT(StepFigures, (),
                      (loss, grad_norm, learning_rate, tokens, tokens_per_second, mfu,
                       communication, device_memory, device_memory_limit, input_wait_ms))

// Whether the newest value stands for a program that does not run.
enum class FigureLasts : std::uint8_t { after_the_attempt, while_it_runs };

struct StepFigure {
  using Real = RealFigure<StepFigures>;
  using Whole = WholeFigure<StepFigures>;

  // The member, the column, the key of documents and the group of a `watch.log` expression; in
  // upper case the key of a worker's message.
  std::string_view name;
  FigureMember<StepFigures> member;
  std::string_view title;  // for people
  FigureUnit unit = FigureUnit::plain;
  std::string_view metric;  // of Prometheus, in its base units
  std::string_view tag;     // of trackers; empty: they do not get it
  FigureLasts lasts = FigureLasts::while_it_runs;
  bool often_apart = false;  // a line of a log may tell it without the others
  bool curve = false;        // it has columns in step_buckets
  bool by_name = false;      // foreign output that has the name means this: the unit is in it
  std::string_view help;     // what it is, over which ranks, and what its absence means
};

inline constexpr auto step_figures = std::to_array<StepFigure>({
    {.name = "loss",
     .member = &StepFigures::loss,
     .title = "loss",
     .metric = "trainward_loss",
     .tag = "train/loss",
     .lasts = FigureLasts::after_the_attempt,
     .often_apart = true,
     .curve = true,
     .help = "Mean loss of the newest step that told one, over all ranks; NaN where it was no "
             "number."},
    {.name = "grad_norm",
     .member = &StepFigures::grad_norm,
     .title = "gradient norm",
     .metric = "trainward_grad_norm",
     .tag = "train/grad_norm",
     .lasts = FigureLasts::after_the_attempt,
     .often_apart = true,
     .curve = true,
     .help = "Norm of the whole gradient, before clipping, in the newest step that told one; NaN "
             "where it was no number."},
    {.name = "learning_rate",
     .member = &StepFigures::learning_rate,
     .title = "learning rate",
     .metric = "trainward_learning_rate",
     .tag = "train/learning_rate",
     .curve = true,
     .help = "Learning rate of the newest step, the same on every rank. Absent while nothing runs, "
             "and where the program does not tell it."},
    {.name = "tokens",
     .member = &StepFigures::tokens,
     .title = "tokens",
     .unit = FigureUnit::tokens,
     .metric = "trainward_tokens",
     .tag = "train/tokens",
     .lasts = FigureLasts::after_the_attempt,
     .often_apart = true,
     .help = "Tokens of all ranks from step 0 to the newest step; they go back when steps are "
             "lost."},
    {.name = "tokens_per_second",
     .member = &StepFigures::tokens_per_second,
     .title = "tokens a second",
     .unit = FigureUnit::tokens_per_second,
     .metric = "trainward_tokens_per_second",
     .tag = "train/tokens_per_second",
     .often_apart = true,
     .curve = true,
     .help = "Tokens a second of all ranks, as the worker tells it; absent while nothing runs."},
    {.name = "mfu",
     .member = &StepFigures::mfu,
     .title = "MFU",
     .unit = FigureUnit::share,
     .metric = "trainward_model_flops_utilization",
     .tag = "train/mfu",
     .help = "Model FLOPs utilization of the newest step (Chowdhery et al. 2022): operations that "
             "the model needs, as a share of what the devices of all ranks can do at their peak (0 "
             "to 1). Absent while nothing runs, and where the peak is not known."},
    {.name = "communication",
     .member = &StepFigures::communication,
     .title = "communication",
     .unit = FigureUnit::share,
     .metric = "trainward_communication_share",
     .tag = "train/communication_share",
     .help = "Share of the newest step that the first rank spent on exchange with other ranks, "
             "waiting for them included (0 to 1). Absent while nothing runs, and for a single "
             "process."},
    {.name = "device_memory",
     .member = &StepFigures::device_memory,
     .title = "device memory",
     .unit = FigureUnit::bytes,
     .metric = "trainward_device_memory_bytes",
     .tag = "train/device_memory_bytes",
     .help = "The most memory that was in use on the fullest device of the first rank since the "
             "attempt began. Absent while nothing runs, and where the device does not tell it."},
    {.name = "device_memory_limit",
     .member = &StepFigures::device_memory_limit,
     .title = "device memory limit",
     .unit = FigureUnit::bytes,
     .metric = "trainward_device_memory_limit_bytes",
     .tag = "",
     .help = "Memory that a program may use on that device."},
    {.name = "input_wait_ms",
     .member = &StepFigures::input_wait_ms,
     .title = "input wait",
     .unit = FigureUnit::ms,
     .metric = "trainward_input_wait_seconds",
     .tag = "train/input_wait_ms",
     .by_name = true,
     .help = "Time that the newest step waited for its data, on the first rank. Absent while "
             "nothing runs, and where the program does not tell it."},
});

// The figures of steps that a curve is kept of, in the order of the table.
inline constexpr auto curve_figures = [] {
  constexpr auto count = std::ranges::count(step_figures, true, &StepFigure::curve);
  std::array<StepFigure, static_cast<std::size_t>(count)> kept{};
  std::ranges::copy_if(step_figures, kept.begin(), &StepFigure::curve);
  return kept;
}();

std::vector<std::string> names_of(std::span<const StepFigure> figures);

inline std::optional<double> value_of(const StepFigures& figures, const StepFigure& figure) {
  return value_at(figures, figure.member);
}

inline void put(StepFigures& figures, const StepFigure& figure, double value) {
  put_at(figures, figure.member, value);
}

// Without what cannot be: beyond its bounds, or not a number. A loss is told all the same, as NaN
// or infinite, since a run must not go on with it.
StepFigures plausible(StepFigures told);

// The figures that a worker's message has; what cannot be is left out.
StepFigures figures_in(const Message& message);
void put_figures(Message& message, const StepFigures& figures);
// "MFU=41 is beyond 1": of the first figure that was left out for that.
std::optional<std::string> figure_out_of_range(const Message& message);

// "gradient norm 0.931", "MFU 41.2 %", "device memory 9.0 GiB", "input wait 12 ms"
std::string figure_text(const StepFigure& figure, double value);

}  // namespace trainward
