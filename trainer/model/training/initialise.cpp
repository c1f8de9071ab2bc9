#include "trainer/model/training/initialise.hpp"

#include <algorithm>
#include <cmath>

#include "trainer/model/training/training_random.hpp"

namespace trainward::trainer {
namespace {

// Gram-Schmidt, twice over for accuracy, on the rows of a normal matrix or on its columns,
// whichever are fewer.
std::vector<double> orthonormal(const RandomStream& random, std::size_t rows, std::size_t columns) {
  const std::size_t vectors = std::min(rows, columns);
  const std::size_t length = std::max(rows, columns);
  std::vector<double> basis(vectors * length);
  for (std::size_t i = 0; i < basis.size(); ++i) basis[i] = random.normal(i);
  const auto vector = [&](std::size_t i) { return std::span(basis).subspan(i * length, length); };
  const auto product = [&](std::size_t i, std::size_t j) {
    double sum = 0;
    for (std::size_t k = 0; k < length; ++k) sum += vector(i)[k] * vector(j)[k];
    return sum;
  };
  for (std::size_t i = 0; i < vectors; ++i) {
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t j = 0; j < i; ++j) {
        const double share = product(i, j);
        for (std::size_t k = 0; k < length; ++k) vector(i)[k] -= share * vector(j)[k];
      }
    }
    const double norm = std::sqrt(product(i, i));
    for (double& x : vector(i)) x /= norm;
  }
  if (rows <= columns) return basis;
  std::vector<double> turned(basis.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) turned[r * columns + c] = basis[c * length + r];
  }
  return turned;
}

}  // namespace

void initialise(const ParameterInfo& info, std::uint64_t seed, std::span<float> values) {
  const RandomStream random(seed, info.name);
  std::fill(values.begin(), values.end(), 0.0F);
  const std::size_t row = info.size() / static_cast<std::size_t>(info.shape[0]);
  const auto live = values.first(row * static_cast<std::size_t>(info.live_rows));
  switch (info.initial) {
    case Initial::zeros:
      return;
    case Initial::ones:
      std::fill(live.begin(), live.end(), 1.0F);
      return;
    case Initial::normal:
      for (std::size_t i = 0; i < live.size(); ++i) {
        live[i] = static_cast<float>(info.deviation * random.normal(i));
      }
      return;
    case Initial::uniform: {
      const double bound = 1 / std::sqrt(static_cast<double>(info.fan_in));
      for (std::size_t i = 0; i < live.size(); ++i) {
        live[i] = static_cast<float>((2 * random.uniform(i) - 1) * bound);
      }
      return;
    }
    case Initial::orthogonal: {
      const std::vector<double> matrix =
          orthonormal(random, static_cast<std::size_t>(info.shape[0]), row);
      for (std::size_t i = 0; i < live.size(); ++i) live[i] = static_cast<float>(matrix[i]);
      return;
    }
  }
}

}  // namespace trainward::trainer
