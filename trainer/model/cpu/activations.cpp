#include "trainer/model/cpu/activations.hpp"

#include <utility>

#include "trainer/cpu/kernels/kernel.hpp"

namespace trainward::trainer {

using cpu::Memory;

std::size_t Activations::bytes(const Segments& segments, std::size_t layers) {
  const std::size_t x_bytes = cpu::buffer_bytes(segments.embed.type(segments.embed.outputs[0]));
  std::size_t kept_bytes = 0;
  for (const graph::Type& type : segments.kept) kept_bytes += cpu::buffer_bytes(type);
  return (layers + 3) * x_bytes + layers * kept_bytes;
}

Result<Activations> Activations::allocate(const Segments& segments, std::size_t layers) {
  const std::size_t x_bytes = cpu::buffer_bytes(segments.embed.type(segments.embed.outputs[0]));
  Result<Memory> memory = Memory::allocate(bytes(segments, layers));
  if (!memory) return propagate(memory);
  Activations result{*std::move(memory), {}, std::vector<std::vector<std::byte*>>(layers), {}};
  std::byte* next = result.memory.data();
  const auto take = [&](std::size_t size) { return std::exchange(next, next + size); };
  for (std::size_t i = 0; i <= layers; ++i) result.x.push_back(take(x_bytes));
  for (std::byte*& dx : result.dx) dx = take(x_bytes);
  for (std::vector<std::byte*>& layer : result.kept) {
    for (const graph::Type& type : segments.kept) layer.push_back(take(cpu::buffer_bytes(type)));
  }
  return result;
}

}  // namespace trainward::trainer
