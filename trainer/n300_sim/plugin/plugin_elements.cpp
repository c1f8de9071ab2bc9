#include "trainer/n300_sim/plugin/plugin_elements.hpp"

#include <cstring>

#include "trainer/cpu/kernels/kernel.hpp"
#include "trainer/pjrt/elements.hpp"

namespace trainward::n300 {
namespace {

using graph::Element;

std::size_t count(const graph::Type& type) {
  return static_cast<std::size_t>(graph::element_count(type.shape));
}

}  // namespace

std::size_t host_bytes(const graph::Type& type) {
  return count(type) * pjrt::byte_size(type.element);
}

std::size_t device_bytes(const graph::Type& type) {
  return count(type) * (type.element == Element::pred ? 2 : cpu::bytes_of(type.element));
}

std::size_t stored_bytes(const graph::Type& type) {
  return count(type) * cpu::bytes_of(type.element);
}

void store(const graph::Type& type, const void* host, std::byte* stored) {
  if (type.element != Element::pred) {
    if (host_bytes(type) > 0) std::memcpy(stored, host, host_bytes(type));
    return;
  }
  const auto* bytes = static_cast<const std::uint8_t*>(host);
  for (std::size_t i = 0; i < count(type); ++i) {
    const std::uint32_t word = bytes[i] != 0 ? 1 : 0;
    std::memcpy(stored + i * sizeof(word), &word, sizeof(word));
  }
}

void fetch(const graph::Type& type, const std::byte* stored, void* host) {
  if (type.element != Element::pred) {
    if (host_bytes(type) > 0) std::memcpy(host, stored, host_bytes(type));
    return;
  }
  auto* bytes = static_cast<std::uint8_t*>(host);
  for (std::size_t i = 0; i < count(type); ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, stored + i * sizeof(word), sizeof(word));
    bytes[i] = word != 0 ? 1 : 0;
  }
}

}  // namespace trainward::n300
