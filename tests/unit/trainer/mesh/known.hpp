// What several tests of this folder calculate with.
#pragma once

#include <cstdint>
#include <limits>

#include "trainer/mesh/links.hpp"

namespace trainward::mesh {

inline constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kib = 1024;
inline constexpr std::int64_t mib = 1024 * kib;
inline constexpr std::int64_t gib = 1024 * mib;
inline constexpr std::int64_t gradients = 1'400'000'000;  // 350 million parameters in f32

inline constexpr const Fabric& n300 = fabric_of(Machine::n300);
inline constexpr const Fabric& t3k = fabric_of(Machine::t3k);
inline constexpr const Fabric& galaxy = fabric_of(Machine::galaxy);

}  // namespace trainward::mesh
