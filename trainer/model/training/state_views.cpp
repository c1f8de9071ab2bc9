#include "trainer/model/training/state_views.hpp"

#include <string_view>

#include "trainer/cpu/kernels/tile_kernels.hpp"

namespace trainward::trainer {
namespace {

using checkpoint::TensorTarget;
using checkpoint::TensorView;

checkpoint::TensorInfo info_of(const ParameterInfo& info, std::string_view suffix) {
  return {info.name + std::string(suffix), checkpoint::DType::f32, info.shape};
}

// Moments of a parameter, in the order they have in a checkpoint.
template <typename Add>
void for_each_moment(const ParameterTable& table, const FlatMemory& flat, const Add& add) {
  for (const ParameterInfo& info : table.infos) {
    if (!info.trained()) continue;
    add(info_of(info, ".exp_avg"), flat.mean().subspan(info.offset, info.size()));
    add(info_of(info, ".exp_avg_sq"), flat.variance().subspan(info.offset, info.size()));
  }
}

template <typename Add>
void for_each_parameter(const ParameterTable& table, const FlatMemory& flat, const Add& add) {
  for (const ParameterInfo& info : table.infos) {
    if (!info.trained()) continue;
    add(info_of(info, ""), flat.parameters().subspan(info.offset, info.size()));
  }
}

auto into(std::vector<TensorView>& views) {
  return [&views](checkpoint::TensorInfo info, std::span<float> array) {
    views.push_back({std::move(info), std::as_bytes(array)});
  };
}

auto into(std::vector<TensorTarget>& targets) {
  return [&targets](checkpoint::TensorInfo info, std::span<float> array) {
    targets.push_back({std::move(info), std::as_writable_bytes(array)});
  };
}

}  // namespace

Result<FlatMemory> FlatMemory::allocate(std::size_t elements, bool with_packed) {
  FlatMemory flat;
  flat.elements_ = elements;
  flat.with_packed_ = with_packed;
  const std::size_t each = 4 * sizeof(float) + (with_packed ? sizeof(std::uint16_t) : 0);
  Result<cpu::Memory> memory = cpu::Memory::allocate(elements * each);
  if (!memory) return propagate(memory);
  flat.memory_ = *std::move(memory);
  return flat;
}

void FlatMemory::pack(std::size_t begin, std::size_t end) const {
  if (!with_packed_) return;
  const cpu::Lane lane{parameters().data() + begin, 1};
  cpu::tile_kernel(cpu::TileOp::to_bf16)(packed().data() + begin, &lane,
                                         static_cast<std::ptrdiff_t>(end - begin));
}

Result<std::unique_ptr<ModelState>> ModelState::allocate(const TrainingSpec& spec, bool with_packed,
                                                         const BaseWeights* base) {
  ParameterTable table = make_parameter_table(spec.model, spec.positions());
  auto flat = FlatMemory::allocate(table.elements, with_packed);
  if (!flat) return propagate(flat);
  auto fixed = FixedValues::make(spec.model, table, base, spec.seed);
  if (!fixed) return propagate(fixed);
  return std::make_unique<ModelState>(std::move(table), *std::move(flat), *std::move(fixed));
}

std::vector<TensorView> model_views(const ParameterTable& table, const FlatMemory& flat) {
  std::vector<TensorView> views;
  for_each_parameter(table, flat, into(views));
  return views;
}

std::vector<TensorView> optimizer_views(const ParameterTable& table, const FlatMemory& flat) {
  std::vector<TensorView> views;
  for_each_moment(table, flat, into(views));
  return views;
}

std::vector<TensorTarget> model_targets(const ParameterTable& table, const FlatMemory& flat) {
  std::vector<TensorTarget> targets;
  for_each_parameter(table, flat, into(targets));
  return targets;
}

std::vector<TensorTarget> optimizer_targets(const ParameterTable& table, const FlatMemory& flat) {
  std::vector<TensorTarget> targets;
  for_each_moment(table, flat, into(targets));
  return targets;
}

}  // namespace trainward::trainer
