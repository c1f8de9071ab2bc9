#include "hwprobe/watch/sample_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.hpp"

namespace trainward::hwprobe {
namespace {

constexpr std::int64_t again_after_ms = 600'000;
constexpr double usual_limit_c = 75;
constexpr double back_below_c = 2;  // under the limit, so that it is not told with every degree
constexpr double near_limit_c = 5;
constexpr double slower = 0.95;
constexpr double at_power_limit = 0.98;
constexpr int slow_samples_needed = 2;
constexpr int still_samples_needed = 3;
constexpr std::int64_t still_ms_needed = 5'000;

double limit_of(const Sample& sample) { return sample.limit_c.value_or(usual_limit_c); }

}  // namespace

void SampleWatch::set(Sign sign, bool holds, std::string text, std::string over,
                      std::int64_t now_mono_ms, std::vector<SampleFinding>& out) {
  Condition& condition = conditions_[static_cast<std::size_t>(sign)];
  if (!holds) {
    if (condition.holds) {
      const auto lasted = human_duration(now_mono_ms - condition.since_mono_ms);
      out.push_back({sign, true, fmt::format("{}, after {}", over, lasted)});
    }
    condition.holds = false;
    return;
  }
  if (!condition.holds) {
    condition = {true, now_mono_ms, now_mono_ms};
    out.push_back({sign, false, std::move(text)});
  } else if (now_mono_ms - condition.told_mono_ms >= again_after_ms) {
    condition.told_mono_ms = now_mono_ms;
    out.push_back(
        {sign, false,
         fmt::format("{}, for {}", text, human_duration(now_mono_ms - condition.since_mono_ms))});
  }
}

void SampleWatch::count(Counter& counter, Sign sign, std::optional<std::int64_t> value,
                        std::string_view what, std::int64_t now_mono_ms,
                        std::vector<SampleFinding>& out) {
  if (!value) return;
  // Smaller than before: the board came back after a reset, and counts from the beginning.
  if (counter.last && *value > *counter.last) counter.untold += *value - *counter.last;
  counter.last = value;
  if (counter.untold == 0) return;
  if (counter.told && now_mono_ms - counter.told_mono_ms < again_after_ms) return;
  out.push_back({sign, false,
                 fmt::format("{} since the last report, {} since the machine started",
                             trainward::count(counter.untold, what), *value)});
  counter.untold = 0;
  counter.told = true;
  counter.told_mono_ms = now_mono_ms;
}

void SampleWatch::watch_heat(const Sample& sample, std::int64_t now_mono_ms,
                             std::vector<SampleFinding>& out) {
  if (!sample.temperature_c) return;
  const double limit = limit_of(sample);
  const double now_c = *sample.temperature_c;
  const bool was = conditions_[static_cast<std::size_t>(Sign::hot)].holds;
  set(Sign::hot, now_c >= (was ? limit - back_below_c : limit),
      fmt::format("at {:.0f} °C, its limit is {:.0f} °C", now_c, limit),
      fmt::format("below its limit of {:.0f} °C again, at {:.0f} °C", limit, now_c), now_mono_ms,
      out);
}

// An idle board lowers its clock too. So the clock alone says nothing: only beside heat, or beside
// power drawn up to the limit, which no idle board does.
void SampleWatch::watch_clock(const Sample& sample, std::int64_t now_mono_ms,
                              std::vector<SampleFinding>& out) {
  if (!sample.clock_mhz || *sample.clock_mhz == 0) return;
  highest_clock_ = std::max(highest_clock_, *sample.clock_mhz);
  const bool hot = sample.temperature_c && *sample.temperature_c >= limit_of(sample) - near_limit_c;
  const bool drawn = sample.power_w && sample.power_limit_w &&
                     *sample.power_w >= at_power_limit * *sample.power_limit_w;
  const bool slow =
      static_cast<double>(*sample.clock_mhz) <= slower * static_cast<double>(highest_clock_);
  slow_samples_ = slow && (hot || drawn) ? slow_samples_ + 1 : 0;
  const std::string why =
      hot ? fmt::format("at {:.0f} °C", *sample.temperature_c)
          : (drawn ? fmt::format("at {:.0f} W, its power limit", *sample.power_w) : "");
  set(Sign::throttling, slow_samples_ >= slow_samples_needed,
      fmt::format("throttles, {} MHz instead of {} MHz {}", *sample.clock_mhz, highest_clock_, why),
      fmt::format("no longer throttles, {} MHz", *sample.clock_mhz), now_mono_ms, out);
}

void SampleWatch::watch_heartbeat(const Sample& sample, std::int64_t now_mono_ms,
                                  std::vector<SampleFinding>& out) {
  if (!sample.heartbeat) {
    // Unreadable for a while, as during a reset: what it stood at before proves nothing.
    beat_.reset();
    return;
  }
  if (beat_ != sample.heartbeat) {
    beat_ = sample.heartbeat;
    beat_mono_ms_ = now_mono_ms;
    same_beats_ = 0;
  }
  ++same_beats_;
  const std::int64_t still_ms = now_mono_ms - beat_mono_ms_;
  set(Sign::frozen, same_beats_ >= still_samples_needed && still_ms >= still_ms_needed,
      fmt::format("heartbeat stands still at {} for {}: its management processor hangs",
                  *sample.heartbeat, human_duration(still_ms)),
      "heartbeat resumed", now_mono_ms, out);
}

std::vector<SampleFinding> SampleWatch::take(const Sample& sample, std::int64_t now_mono_ms) {
  std::vector<SampleFinding> out;
  set(Sign::gone, !sample.present, "gone from the PCI bus", "on the PCI bus again", now_mono_ms,
      out);
  if (!sample.present) return out;
  watch_heartbeat(sample, now_mono_ms, out);
  count(counters_[0], Sign::fatal, sample.aer_fatal, "fatal PCIe error", now_mono_ms, out);
  count(counters_[1], Sign::fatal, sample.aer_nonfatal, "uncorrected PCIe error", now_mono_ms, out);
  watch_heat(sample, now_mono_ms, out);
  watch_clock(sample, now_mono_ms, out);
  count(counters_[2], Sign::link, sample.aer_correctable, "corrected PCIe error", now_mono_ms, out);
  return out;
}

}  // namespace trainward::hwprobe
