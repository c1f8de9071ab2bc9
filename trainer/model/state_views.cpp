#include "trainer/model/state_views.hpp"

#include <cstring>
#include <map>
#include <string_view>

namespace trainward::trainer {
namespace {

using checkpoint::TensorView;

void append_view(std::vector<TensorView>& views, const ParameterInfo& info, std::string_view suffix,
                 std::span<const float> array) {
  views.push_back({{info.name + std::string(suffix), checkpoint::DType::f32, info.shape},
                   std::as_bytes(array.subspan(info.offset, info.size()))});
}

// Finds a source for each of our views; the text lists those without one.
std::string match(std::span<const TensorView> ours, std::span<const TensorView> theirs,
                  std::vector<const TensorView*>& sources) {
  std::map<std::string_view, const TensorView*> by_name;
  for (const TensorView& tensor : theirs) by_name[tensor.info.name] = &tensor;
  std::string wrong;
  const auto complain = [&](std::string_view text) {
    wrong += (wrong.empty() ? "" : "; ") + std::string(text);
  };
  for (const TensorView& mine : ours) {
    const auto found = by_name.find(mine.info.name);
    if (found == by_name.end()) {
      complain(fmt::format("{} is missing", mine.info.name));
      continue;
    }
    const TensorView& other = *found->second;
    if (other.info.dtype != mine.info.dtype || other.info.shape != mine.info.shape ||
        other.bytes.size() != mine.bytes.size()) {
      complain(
          fmt::format("{} is {}{} instead of {}{}", mine.info.name,
                      checkpoint::to_string(other.info.dtype), graph::to_string(other.info.shape),
                      checkpoint::to_string(mine.info.dtype), graph::to_string(mine.info.shape)));
    }
    sources.push_back(&other);
  }
  return wrong;
}

void copy_into(std::span<const TensorView> ours, const std::vector<const TensorView*>& sources) {
  for (std::size_t i = 0; i < ours.size(); ++i) {
    // Our views are read-only for their other users; the memory is the model's own.
    auto* target = const_cast<std::byte*>(ours[i].bytes.data());
    std::memmove(target, sources[i]->bytes.data(), ours[i].bytes.size());
  }
}

}  // namespace

Result<FlatMemory> FlatMemory::allocate(std::size_t elements) {
  FlatMemory flat;
  flat.elements_ = elements;
  Result<cpu::Memory> memory = cpu::Memory::allocate(4 * elements * sizeof(float));
  if (!memory) return propagate(memory);
  flat.memory_ = *std::move(memory);
  return flat;
}

std::vector<TensorView> model_views(const ParameterTable& table, const FlatMemory& flat) {
  std::vector<TensorView> views;
  views.reserve(table.infos.size());
  for (const ParameterInfo& info : table.infos) append_view(views, info, "", flat.parameters());
  return views;
}

std::vector<TensorView> optimizer_views(const ParameterTable& table, const FlatMemory& flat) {
  std::vector<TensorView> views;
  views.reserve(2 * table.infos.size());
  for (const ParameterInfo& info : table.infos) {
    append_view(views, info, ".exp_avg", flat.mean());
    append_view(views, info, ".exp_avg_sq", flat.variance());
  }
  return views;
}

Status copy_state(const ParameterTable& table, std::span<const TensorView> model,
                  std::span<const TensorView> optimizer, const FlatMemory& flat) {
  const std::vector<TensorView> our_model = model_views(table, flat);
  const std::vector<TensorView> our_optimizer = optimizer_views(table, flat);
  std::vector<const TensorView*> model_sources;
  std::vector<const TensorView*> optimizer_sources;
  std::string wrong = match(our_model, model, model_sources);
  const std::string wrong_moments = match(our_optimizer, optimizer, optimizer_sources);
  if (!wrong.empty() && !wrong_moments.empty()) wrong += "; ";
  wrong += wrong_moments;
  if (!wrong.empty()) {
    return fail(ErrorKind::corrupt, "the checkpoint does not fit the model: " + wrong, {},
                "resume with the model settings it was saved with");
  }
  copy_into(our_model, model_sources);
  copy_into(our_optimizer, optimizer_sources);
  return {};
}

}  // namespace trainward::trainer
