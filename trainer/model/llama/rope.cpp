#include "trainer/model/llama/rope.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace trainward::trainer {
namespace {

double stretched(double frequency, const RopeSpec& rope) {
  const double wavelength = 2 * std::numbers::pi / frequency;
  const auto original = static_cast<double>(rope.original_positions);
  if (wavelength < original / rope.high) return frequency;
  if (wavelength > original / rope.low) return frequency / rope.factor;
  const double smooth = (original / wavelength - rope.low) / (rope.high - rope.low);
  return (1 - smooth) * frequency / rope.factor + smooth * frequency;
}

}  // namespace

std::vector<double> rope_frequencies(const RopeSpec& rope, std::int64_t head_width) {
  std::vector<double> all(static_cast<std::size_t>(head_width / 2));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double exponent = 2 * static_cast<double>(i) / static_cast<double>(head_width);
    all[i] = std::pow(rope.theta, -exponent);
    if (rope.scaling == RopeSpec::Scaling::linear) all[i] /= rope.factor;
    if (rope.scaling == RopeSpec::Scaling::llama3) all[i] = stretched(all[i], rope);
  }
  return all;
}

void fill_rope(RopeTable which, const RopeSpec& rope, std::int64_t head_width,
               std::span<float> values) {
  const std::vector<double> frequencies = rope_frequencies(rope, head_width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t position = i / frequencies.size();
    const double angle = static_cast<double>(position) * frequencies[i % frequencies.size()];
    values[i] = static_cast<float>(which == RopeTable::cosines ? std::cos(angle) : std::sin(angle));
  }
}

}  // namespace trainward::trainer
