#include "trainer/mesh/row_sums.hpp"

#include <algorithm>

namespace trainward::mesh {

RowSums row_sums(const RowWork& work, const Fabric& fabric) {
  if (work.columns <= 1) return {};
  RowSums result;
  result.each = choose({1, work.columns}, fabric, work.bytes).cost;
  result.sum_seconds =
      static_cast<double>(std::max<std::int64_t>(0, work.sums)) * result.each.seconds;
  const auto columns = static_cast<double>(work.columns);
  result.saved_seconds = std::max(0.0, work.undivided_seconds) * (1 - 1 / columns);
  return result;
}

}  // namespace trainward::mesh
