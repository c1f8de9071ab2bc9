#include "supervisor/decide/core/leak_watch.hpp"

#include <cmath>

namespace trainward::core {
namespace {

constexpr std::int64_t enough_samples = 16;
constexpr double growth = 0.1;
constexpr double mebibyte = 1024.0 * 1024.0;

}  // namespace

void add_sample(LeakWatch& watch, MonoTime at, std::int64_t bytes) {
  if (watch.samples == 0) {
    watch.first_mono_ms = at;
    watch.first_bytes = bytes;
  }
  ++watch.samples;
  watch.last_bytes = bytes;
  const double x = static_cast<double>(at - watch.first_mono_ms) / 1000.0;
  const double y = static_cast<double>(bytes - watch.first_bytes) / mebibyte;
  watch.sum_x += x;
  watch.sum_y += y;
  watch.sum_xx += x * x;
  watch.sum_xy += x * y;
}

std::optional<std::int64_t> exhausted_in_ms(const LeakWatch& watch, std::int64_t available_bytes) {
  if (watch.samples < enough_samples || watch.first_bytes <= 0) return std::nullopt;
  const auto grown = static_cast<double>(watch.last_bytes - watch.first_bytes);
  if (grown < growth * static_cast<double>(watch.first_bytes)) return std::nullopt;
  const auto n = static_cast<double>(watch.samples);
  const double spread = n * watch.sum_xx - watch.sum_x * watch.sum_x;
  if (spread <= 0) return std::nullopt;
  const double rate = (n * watch.sum_xy - watch.sum_x * watch.sum_y) / spread;  // MiB a second
  if (rate <= 0) return std::nullopt;
  const double seconds = static_cast<double>(available_bytes) / mebibyte / rate;
  constexpr double a_year = 3.2e7;
  if (seconds > a_year) return std::nullopt;
  return std::llround(seconds * 1000.0);
}

}  // namespace trainward::core
