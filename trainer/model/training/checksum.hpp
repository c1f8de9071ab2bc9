// XXH3-64 of values, one array after another: equal for copies that are equal bit by bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace trainward::trainer {

// `so_far`: of the arrays before.
std::uint64_t add_checksum(std::uint64_t so_far, std::span<const std::byte> bytes);

}  // namespace trainward::trainer
