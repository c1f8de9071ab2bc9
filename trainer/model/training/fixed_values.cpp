#include "trainer/model/training/fixed_values.hpp"

#include <cstdint>
#include <vector>

#include "common/base/bf16.hpp"
#include "trainer/cpu/kernels/kernel.hpp"
#include "trainer/model/architecture.hpp"
#include "trainer/model/training/initialise.hpp"

namespace trainward::trainer {
namespace {

using checkpoint::DType;

std::size_t bytes_of(const ParameterInfo& info) {
  return cpu::aligned(info.size() * cpu::bytes_of(info.element));
}

// Where the base holds it just as the graphs take it; nullptr: it must be copied, or is trained.
const void* as_it_lies(const BaseWeights* base, const ParameterInfo& info) {
  if (info.role != Role::frozen || base == nullptr) return nullptr;
  const auto tensor = base->find(info.name);
  if (!tensor || tensor->shape != info.shape) return nullptr;
  const DType type = info.element == graph::Element::bf16 ? DType::bf16 : DType::f32;
  const auto address = reinterpret_cast<std::uintptr_t>(tensor->bytes.data());
  const bool usable = tensor->type == type && address % cpu::bytes_of(info.element) == 0;
  return usable ? tensor->bytes.data() : nullptr;
}

Status fill(const ModelSpec& model, const ParameterInfo& info, const BaseWeights* base,
            std::uint64_t seed, std::byte* at) {
  const std::span<float> wide{reinterpret_cast<float*>(at), info.size()};
  if (info.role == Role::table) {
    architecture_of(model).fill_table(model, info, wide);
    return {};
  }
  const bool narrow = info.element == graph::Element::bf16;
  const std::span<std::uint16_t> packed{reinterpret_cast<std::uint16_t*>(at), info.size()};
  if (base != nullptr)
    return narrow ? fill_from(*base, info, packed) : fill_from(*base, info, wide);
  if (!narrow) {
    initialise(info, seed, wide);
    return {};
  }
  std::vector<float> drawn(info.size());
  initialise(info, seed, drawn);
  for (std::size_t i = 0; i < drawn.size(); ++i) packed[i] = bf16_from_float(drawn[i]);
  return {};
}

}  // namespace

FixedValues::Bytes FixedValues::count(const ParameterTable& table, const BaseWeights* base) {
  Bytes bytes;
  for (const ParameterInfo& info : table.infos) {
    if (info.trained()) continue;
    (as_it_lies(base, info) == nullptr ? bytes.copied : bytes.mapped) += bytes_of(info);
  }
  return bytes;
}

Result<FixedValues> FixedValues::make(const ModelSpec& model, const ParameterTable& table,
                                      const BaseWeights* base, std::uint64_t seed) {
  FixedValues fixed;
  for (const ParameterInfo& info : table.infos) fixed.values_.push_back(as_it_lies(base, info));
  const std::size_t own = count(table, base).copied;
  if (own == 0) return fixed;
  auto memory = cpu::Memory::allocate(own);
  if (!memory) return propagate(memory);
  fixed.memory_ = *std::move(memory);
  std::byte* next = fixed.memory_.data();
  for (std::size_t i = 0; i < table.infos.size(); ++i) {
    const ParameterInfo& info = table.infos[i];
    if (info.trained() || fixed.values_[i] != nullptr) continue;
    if (auto ok = fill(model, info, base, seed, next); !ok) return propagate(ok);
    fixed.values_[i] = next;
    next += bytes_of(info);
  }
  return fixed;
}

}  // namespace trainward::trainer
