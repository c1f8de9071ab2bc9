#include "supervisor/daemon/base/console.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "common/base/text.hpp"
#include "common/terminal/display_text.hpp"

namespace trainward::daemon {
namespace {

constexpr std::int64_t redraw_ms = 100;
constexpr std::int64_t plain_every = 25;
constexpr std::int64_t plain_wait_ms = 10'000;
constexpr std::int64_t bar_cells = 24;
// The whole text is in the database: `trainwardctl why` and `events` show it. How an attempt ended
// names what has to be mended, often behind a long path.
constexpr std::size_t longest_text = 120;
constexpr std::size_t longest_ending = 1000;

std::string local_time(WallTime at) {
  const std::time_t seconds = static_cast<std::time_t>(at.ms / 1000);
  std::tm local{};
  localtime_r(&seconds, &local);
  return fmt::format("{:%H:%M:%S}", local);
}

std::string rate(std::optional<double> tokens_per_second) {
  if (!tokens_per_second) return "- tokens/s";
  if (*tokens_per_second >= 10'000)
    return fmt::format("{:.1f}k tokens/s", *tokens_per_second / 1000);
  return fmt::format("{:.0f} tokens/s", *tokens_per_second);
}

std::string describe(const Progress& p) {
  const std::string target = p.target > 0 ? fmt::format("/{}", p.target) : "";
  return fmt::format("{}  step {}{}  loss {}  {}  attempt {}  {}", p.program, p.step, target,
                     p.loss ? number_text(*p.loss) : "-", rate(p.tokens_per_second), p.attempt,
                     p.state);
}

std::string bar(const Progress& p) {
  if (p.target <= 0) return {};
  const auto cells = static_cast<std::size_t>(
      std::clamp<std::int64_t>(p.step * bar_cells / p.target, 0, bar_cells));
  return "[" + std::string(cells, '#') + std::string(bar_cells - cells, '.') + "] ";
}

}  // namespace

Console::Console(bool enabled, std::FILE* out)
    : enabled_(enabled), out_(out), terminal_(::isatty(::fileno(out)) == 1) {}

Console::~Console() {
  if (line_drawn_) std::fputs("\n", out_);
}

void Console::erase_line() {
  if (!line_drawn_) return;
  std::fputs("\r\033[K", out_);
  line_drawn_ = false;
}

// A line that wraps cannot be erased, and hides the one that follows.
std::string Console::fitted(const std::string& line) const {
  const std::size_t width = terminal_ ? terminal_width(::fileno(out_)) : 0;
  return width == 0 ? line : shortened(line, width);
}

void Console::print_line(const std::string& line) {
  fmt::print(out_, "{}\n", line);
  std::fflush(out_);
}

void Console::event(const std::string& program, const std::string& kind, const std::string& text,
                    Time at) {
  if (!enabled_) return;
  erase_line();
  // What a person has to read whole.
  const bool ending = kind == "exit" || kind == "waiting";
  const std::string whole =
      fmt::format("{}  {}  {:<8}  {}", local_time(at.wall), program, kind,
                  shortened(clean(text), ending ? longest_ending : longest_text));
  const std::string shown = fitted(whole);
  print_line(shown);
  if (ending && shown != whole) {
    print_line(
        fitted(fmt::format("          {}  all of it: trainwardctl why {}", program, program)));
  }
  drawn_at_ = {};
}

void Console::sample(const std::string& program, const WorkerSample& said, Time at) {
  std::string text = fmt::format("step {}: {} → {}", said.step, said.prompt, said.answer);
  std::ranges::replace(text, '\n', ' ');
  event(program, "sample", text, at);
}

void Console::progress(const Progress& progress, Time at) {
  if (!enabled_) return;
  if (!terminal_) {
    if (progress.step == plain_step_ || progress.step % plain_every != 0) return;
    plain_step_ = progress.step;
    return print_line(fmt::format("{}  {}", local_time(at.wall), describe(progress)));
  }
  if (at.mono - drawn_at_ < redraw_ms) return;
  drawn_at_ = at.mono;
  draw(bar(progress) + describe(progress));
}

void Console::draw(const std::string& line) {
  erase_line();
  fmt::print(out_, "{}", fitted(line));
  std::fflush(out_);
  line_drawn_ = true;
}

void Console::waiting(const std::string& what, std::size_t others, Time at) {
  if (!enabled_) return;
  const std::string who = what.substr(0, what.find(','));
  const bool same = who == waited_for_;
  const std::int64_t pause = terminal_ ? redraw_ms : plain_wait_ms;
  if (same && at.mono - drawn_at_ < pause) return;
  waited_for_ = who;
  drawn_at_ = at.mono;
  const std::string line = "waiting for " + clean(what) +
                           (others == 0 ? "" : fmt::format(", and {} more", others)) +
                           "; Ctrl-C leaves it";
  if (terminal_) return draw(line);
  print_line(fmt::format("{}  {}", local_time(at.wall), line));
}

}  // namespace trainward::daemon
