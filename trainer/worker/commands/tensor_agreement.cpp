#include "trainer/worker/commands/tensor_agreement.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace trainward::trainer {
namespace {

float number_at(const checkpoint::TensorView& view, std::size_t i) {
  float number = 0;
  std::memcpy(&number, view.bytes.data() + i * sizeof(float), sizeof(float));
  return number;
}

Agreement compare(const checkpoint::TensorView& expected, const checkpoint::TensorView& got) {
  const std::size_t count = expected.bytes.size() / sizeof(float);
  double x_sum = 0, y_sum = 0, xx = 0, yy = 0, xy = 0, apart = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto x = static_cast<double>(number_at(expected, i));
    const auto y = static_cast<double>(number_at(got, i));
    x_sum += x;
    y_sum += y;
    xx += x * x;
    yy += y * y;
    xy += x * y;
    apart += (x - y) * (x - y);
  }
  Agreement result{expected.info.name, 0, std::sqrt(apart / xx)};
  if (xx == 0 || yy == 0) {
    result.correlation = xx == yy ? 1 : 0;
    result.difference = xx == yy ? 0 : std::numeric_limits<double>::infinity();
    return result;
  }
  const auto n = static_cast<double>(count);
  const double spread = std::sqrt((xx - x_sum * x_sum / n) * (yy - y_sum * y_sum / n));
  // All of one value: what is left to compare is the direction.
  const bool constant = !(spread > 1e-12 * std::sqrt(xx * yy));
  const double correlation = constant ? xy / std::sqrt(xx * yy) : (xy - x_sum * y_sum / n) / spread;
  result.correlation = std::isfinite(correlation) ? correlation : 0;
  return result;
}

}  // namespace

std::vector<Agreement> compare_tensors(const std::vector<checkpoint::TensorView>& expected,
                                       const std::vector<checkpoint::TensorView>& got) {
  std::vector<Agreement> all;
  for (const checkpoint::TensorView& tensor : expected) {
    const auto other = std::find_if(got.begin(), got.end(), [&](const auto& candidate) {
      return candidate.info.name == tensor.info.name &&
             candidate.bytes.size() == tensor.bytes.size();
    });
    all.push_back(other == got.end() ? Agreement{tensor.info.name, 0, 1} : compare(tensor, *other));
  }
  std::stable_sort(all.begin(), all.end(), [](const Agreement& a, const Agreement& b) {
    return a.correlation < b.correlation;
  });
  return all;
}

}  // namespace trainward::trainer
