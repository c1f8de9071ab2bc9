// One step of a program. Built at plan time; running it allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trainer/cpu/runtime/memory.hpp"
#include "trainer/graph/type.hpp"

namespace trainward::cpu {

// An index into the table of addresses a program fills in before it runs.
using BufferId = std::int32_t;
using Addresses = std::byte* const*;

class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  Kernel(Kernel&&) = delete;
  Kernel& operator=(Kernel&&) = delete;
  virtual ~Kernel() = default;

  virtual void run(Addresses addresses) const = 0;

  // Bytes of private memory needed while it runs, and where the planner put them.
  [[nodiscard]] virtual std::size_t scratch_bytes() const { return 0; }
  void set_scratch(BufferId buffer) { scratch_ = buffer; }

 protected:
  [[nodiscard]] std::byte* scratch(Addresses addresses) const { return addresses[scratch_]; }

 private:
  BufferId scratch_ = 0;
};

// Numbers and predicates take four bytes, bf16 two.
inline constexpr std::size_t element_bytes = 4;
constexpr std::size_t bytes_of(graph::Element element) {
  return element == graph::Element::bf16 ? 2 : element_bytes;
}
// Of a dense buffer, up to where the next one may begin.
inline std::size_t buffer_bytes(const graph::Type& type) {
  return aligned(static_cast<std::size_t>(graph::element_count(type.shape)) *
                 bytes_of(type.element));
}

}  // namespace trainward::cpu
