#include "trainer/model/training/training_random.hpp"

#include <array>
#include <cmath>

#include "common/base/random.hpp"

namespace trainward::trainer {
namespace {

template <std::size_t count>
double polynomial(const std::array<double, count>& coefficients, double x) {
  double value = 0;
  for (const double coefficient : coefficients) value = value * x + coefficient;
  return value;
}

// The inverse of the normal distribution function by Acklam's rational approximation, relative
// error below 1.2e-9.
double inverse_normal(double p) {
  constexpr std::array<double, 6> a{-3.969683028665376e+01, 2.209460984245205e+02,
                                    -2.759285104469687e+02, 1.383577518672690e+02,
                                    -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr std::array<double, 6> b{-5.447609879822406e+01, 1.615858368580409e+02,
                                    -1.556989798598866e+02, 6.680131188771972e+01,
                                    -1.328068155288572e+01, 1};
  constexpr std::array<double, 6> c{-7.784894002430293e-03, -3.223964580411365e-01,
                                    -2.400758277161838e+00, -2.549732539343734e+00,
                                    4.374664141464968e+00,  2.938163982698783e+00};
  constexpr std::array<double, 5> d{7.784695709041462e-03, 3.224671290700398e-01,
                                    2.445134137142996e+00, 3.754408661907416e+00, 1};
  constexpr double low = 0.02425;
  if (p < low) {
    const double q = std::sqrt(-2 * std::log(p));
    return polynomial(c, q) / polynomial(d, q);
  }
  if (p > 1 - low) return -inverse_normal(1 - p);
  const double q = p - 0.5;
  const double r = q * q;
  return polynomial(a, r) * q / polynomial(b, r);
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) : key_(splitmix64(seed)) {
  for (const char c : name) key_ = splitmix64(key_ ^ static_cast<unsigned char>(c));
}

std::uint64_t RandomStream::bits(std::uint64_t position) const {
  return splitmix64(key_ ^ splitmix64(position));
}

double RandomStream::uniform(std::uint64_t position) const {
  return (static_cast<double>(bits(position) >> 11) + 0.5) * 0x1p-53;
}

double RandomStream::normal(std::uint64_t position) const {
  return inverse_normal(uniform(position));
}

}  // namespace trainward::trainer
