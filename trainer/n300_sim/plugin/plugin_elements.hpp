// The elements of a buffer on both sides of the plugin, and in the simulated device's memory.
//
// On the host a predicate is one byte. On the device it is a word, as the CPU executor wants it;
// the account counts two bytes for it, as tt-xla makes a bf16 of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trainer/graph/type.hpp"

namespace trainward::n300 {

// Bytes of a whole buffer: on the host, in the account, and in the memory behind it.
std::size_t host_bytes(const graph::Type& type);
std::size_t device_bytes(const graph::Type& type);
std::size_t stored_bytes(const graph::Type& type);

// Between the host's layout and the stored one.
void store(const graph::Type& type, const void* host, std::byte* stored);
void fetch(const graph::Type& type, const std::byte* stored, void* host);

}  // namespace trainward::n300
