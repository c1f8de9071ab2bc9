#include "common/terminal/progress_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "common/base/text.hpp"
#include "common/terminal/display_text.hpp"

namespace trainward {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds first_drawing{1000};
constexpr milliseconds between_drawings{100};
constexpr std::size_t shortest_bar = 10;
constexpr std::size_t longest_bar = 40;
constexpr std::size_t bar_frame = 4;  // two brackets and the gap before them

double share_of(const Measure& measure) {
  if (measure.total == 0) return 0;
  return std::min(1.0, static_cast<double>(measure.done) / static_cast<double>(measure.total));
}

std::string bar(double share, std::size_t cells) {
  const auto full = static_cast<std::size_t>(share * static_cast<double>(cells));
  std::string text(full, '=');
  if (full < cells) text += '>';
  text.resize(cells, ' ');
  return "[" + text + "]";
}

// Both in the unit of the total, which then is said once.
std::string amounts(const Measure& measure) {
  struct Unit {
    std::uint64_t bytes;
    std::string_view name;
    int digits;
  };
  constexpr std::array units{Unit{1ULL << 30U, "GiB", 2}, Unit{1ULL << 20U, "MiB", 0},
                             Unit{1ULL << 10U, "KiB", 0}, Unit{1, "B", 0}};
  const auto unit = std::find_if(units.begin(), units.end() - 1,
                                 [&](const Unit& u) { return measure.total >= u.bytes; });
  const auto in_units = [&](std::uint64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(unit->bytes);
  };
  return fmt::format("{:.{}f} of {:.{}f} {}", in_units(std::min(measure.done, measure.total)),
                     unit->digits, in_units(measure.total), unit->digits, unit->name);
}

std::string time_left(const Measure& measure) {
  constexpr double longest = 99.0 * 3600;
  if (!(measure.rate > 0) || measure.done >= measure.total) return {};
  const double seconds = static_cast<double>(measure.total - measure.done) / measure.rate;
  if (seconds > longest) return {};
  const std::int64_t whole = std::llround(seconds);
  if (whole < 3600) return fmt::format("{}:{:02} left", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02} left", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

std::string progress_line(const Measure& measure, std::size_t width) {
  const double share = share_of(measure);
  // Never "100 %" before the end.
  const std::string percent = fmt::format("{:3} %", static_cast<int>(share * 100));
  const std::string rate =
      measure.rate > 0 ? human_bytes(static_cast<std::uint64_t>(measure.rate)) + "/s" : "";
  // From the most important to the least; each is shown when those before it are.
  const std::vector<std::string> parts{percent, amounts(measure), time_left(measure), rate};
  const std::string label = clean(measure.label);
  std::size_t used = display_width(label);
  std::size_t shown = 0;
  for (; shown < parts.size(); ++shown) {
    const std::size_t needed = parts[shown].empty() ? 0 : parts[shown].size() + 2;
    if (used + needed > width) break;
    used += needed;
  }
  std::string line = label;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) line += "  " + part;
  };
  if (used + bar_frame + shortest_bar <= width) {
    add(bar(share, std::min(width - used - bar_frame, longest_bar)));
  }
  // Rates are read before what they lead to.
  for (const std::size_t part : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{2}}) {
    if (part < shown) add(parts[part]);
  }
  return shortened(line, width);
}

ProgressBar::ProgressBar(std::string label, Time start)
    : label_(std::move(label)), start_(start), measured_(start) {}

void ProgressBar::measure_rate(Time now, std::uint64_t done) {
  constexpr double seconds_to_forget = 3;
  const double seconds = std::chrono::duration<double>(now - measured_).count();
  if (seconds <= 0 || done < measured_done_) return;
  const double current = static_cast<double>(done - measured_done_) / seconds;
  const double weight = rate_ > 0 ? std::min(1.0, seconds / seconds_to_forget) : 1.0;
  rate_ += weight * (current - rate_);
  measured_ = now;
  measured_done_ = done;
}

std::optional<std::string> ProgressBar::update(Time now, std::uint64_t done, std::uint64_t total,
                                               std::size_t width) {
  if (now - start_ < first_drawing || (drawn_ && now - *drawn_ < between_drawings)) {
    return std::nullopt;
  }
  measure_rate(now, done);
  drawn_ = now;
  // The last column stays free: a terminal would begin a new line there.
  const std::size_t room = width > 0 ? width - 1 : 0;
  return "\r" + progress_line({label_, done, total, rate_}, room) + "\x1b[K";
}

std::string ProgressBar::clear() {
  if (!drawn_) return {};
  drawn_.reset();
  return "\r\x1b[K";
}

}  // namespace trainward
