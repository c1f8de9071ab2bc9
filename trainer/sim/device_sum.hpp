// The sum over devices of one array each.
#pragma once

#include <cstdint>
#include <span>

namespace trainward::n300 {

// to[d][i] = from[0][i] + from[1][i] + …, added in that order, for every device d. An array of `to`
// may be one of `from`, and overlaps no other. Uses the calling thread's OpenMP threads; what they
// are makes no difference to the result.
void sum_over_devices(std::span<const float* const> from, std::span<float* const> to,
                      std::int64_t elements);

}  // namespace trainward::n300
