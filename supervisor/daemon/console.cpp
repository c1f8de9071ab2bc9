#include "supervisor/daemon/console.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "common/text.hpp"

namespace trainward::daemon {
namespace {

constexpr std::int64_t redraw_ms = 100;
constexpr std::int64_t plain_every = 25;
constexpr std::int64_t bar_cells = 24;
// The whole text is in the database: `trainwardctl why` and `events` show it.
constexpr std::size_t longest_text = 120;

std::string local_time(std::int64_t wall_ms) {
  const std::time_t seconds = static_cast<std::time_t>(wall_ms / 1000);
  std::tm local{};
  localtime_r(&seconds, &local);
  return fmt::format("{:%H:%M:%S}", local);
}

std::string rate(double tokens_per_second) {
  if (tokens_per_second >= 10'000) return fmt::format("{:.1f}k tokens/s", tokens_per_second / 1000);
  return fmt::format("{:.0f} tokens/s", tokens_per_second);
}

std::string describe(const Progress& p) {
  const std::string target = p.target > 0 ? fmt::format("/{}", p.target) : "";
  return fmt::format("{}  step {}{}  loss {}  {}  attempt {}  {}", p.program, p.step, target,
                     number_text(p.loss), rate(p.tokens_per_second), p.attempt, p.state);
}

std::string bar(const Progress& p) {
  if (p.target <= 0) return {};
  const auto cells = static_cast<std::size_t>(
      std::clamp<std::int64_t>(p.step * bar_cells / p.target, 0, bar_cells));
  return "[" + std::string(cells, '#') + std::string(bar_cells - cells, '.') + "] ";
}

}  // namespace

Console::Console(bool enabled) : enabled_(enabled), terminal_(::isatty(STDOUT_FILENO) == 1) {}

Console::~Console() {
  if (line_drawn_) std::fputs("\n", stdout);
}

void Console::erase_line() {
  if (!line_drawn_) return;
  std::fputs("\r\033[K", stdout);
  line_drawn_ = false;
}

void Console::event(const std::string& program, const std::string& kind, const std::string& text,
                    Time at) {
  if (!enabled_) return;
  erase_line();
  const std::string safe = clean(text);
  std::size_t length = std::min(safe.size(), longest_text);
  // Not in the middle of a UTF-8 character.
  while (length < safe.size() && length > 0 && (safe[length] & 0xC0) == 0x80) --length;
  fmt::print("{}  {}  {:<8}  {}{}\n", local_time(at.wall_ms), program, kind,
             std::string_view(safe).substr(0, length), length < safe.size() ? "…" : "");
  std::fflush(stdout);
  drawn_mono_ms_ = 0;
}

void Console::progress(const Progress& progress, Time at) {
  if (!enabled_) return;
  if (!terminal_) {
    if (progress.step == plain_step_ || progress.step % plain_every != 0) return;
    plain_step_ = progress.step;
    fmt::print("{}  {}\n", local_time(at.wall_ms), describe(progress));
    std::fflush(stdout);
    return;
  }
  if (at.mono_ms - drawn_mono_ms_ < redraw_ms) return;
  drawn_mono_ms_ = at.mono_ms;
  erase_line();
  fmt::print("{}{}", bar(progress), describe(progress));
  std::fflush(stdout);
  line_drawn_ = true;
}

}  // namespace trainward::daemon
