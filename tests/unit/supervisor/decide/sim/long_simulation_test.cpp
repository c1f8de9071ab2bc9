// A fortnight of chaos, two thousand times over.
#include "promises.hpp"

namespace trainward::sim {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t seeds = 100;
#else
constexpr std::uint64_t seeds = 2'000;
#endif

// In four parts, so that they can run beside each other.
class LongChaos : public ::testing::TestWithParam<std::uint64_t> {};
TEST_P(LongChaos, EveryPromiseHolds) {
  const std::uint64_t part = seeds / 4;
  expect_promises("chaos", GetParam() * part + 1, (GetParam() + 1) * part);
}
INSTANTIATE_TEST_SUITE_P(Quarter, LongChaos, ::testing::Values(0, 1, 2, 3));

}  // namespace
}  // namespace trainward::sim
