#include "trainer/model/columns.hpp"

#include <cstring>

#include "trainer/graph/type.hpp"

namespace trainward::trainer {
namespace {

std::int64_t parts_of(const ParameterInfo& info) {
  return info.shape[info.cut->axis] / (info.cut->unit * info.cut->neighbours);
}

Status check_parts(const ParameterInfo& info, std::int64_t columns) {
  const std::int64_t parts = parts_of(info);
  if (parts % columns == 0) return {};
  return fail(ErrorKind::usage,
              fmt::format("{} {} do not divide evenly over {} columns ({} / {} = {:.4g}; {})",
                          parts, info.cut->parts, columns, parts, columns,
                          static_cast<double>(parts) / static_cast<double>(columns), info.name),
              "device_config.enable_tp", "choose columns that divide them, or leave enable_tp out");
}

graph::Shape shape_of(const ParameterInfo& info, std::int64_t columns) {
  graph::Shape shape = info.shape;
  if (info.cut) shape[info.cut->axis] /= columns;
  return shape;
}

}  // namespace

Status check_columns(const TrainingSpec& spec) {
  if (spec.columns == 1) return {};
  const ParameterTable table = make_parameter_table(spec.model, spec.positions());
  for (const ParameterInfo& info : table.infos) {
    if (!info.cut) continue;
    if (auto ok = check_parts(info, spec.columns); !ok) return ok;
  }
  const LoraSpec& lora = spec.model.lora;
  // Which elements are dropped depends on their place in a row of the whole.
  if (lora.dropout > 0 && (lora.adapts(Linear::o) || lora.adapts(Linear::down))) {
    return fail(
        ErrorKind::usage, "enable_tp divides what adapters of o_proj and down_proj drop from",
        "training_config.lora.lora_dropout", "make it 0, or leave those two out of target_modules");
  }
  return {};
}

ParameterTable share_of(ParameterTable whole, std::int64_t columns) {
  for (ParameterInfo& info : whole.infos) info.shape = shape_of(info, columns);
  return whole;
}

Share::Share(const ParameterInfo& whole, std::int64_t columns, std::size_t bytes)
    : shape_(shape_of(whole, columns)),
      size_(static_cast<std::size_t>(graph::element_count(shape_)) * bytes),
      piece_(size_) {
  if (!whole.cut || columns == 1) return;
  const auto axis = whole.shape.begin() + static_cast<std::ptrdiff_t>(whole.cut->axis);
  const std::int64_t before =
      graph::element_count(graph::Shape(whole.shape.begin(), axis)) * whole.cut->neighbours;
  pieces_ = static_cast<std::size_t>(before);
  piece_ = own_ = size_ / pieces_;
  apart_ = piece_ * static_cast<std::size_t>(columns);
}

void Share::take(std::span<const std::byte> whole, std::int64_t column, std::byte* share) const {
  const std::byte* from = whole.data() + offset(column);
  for (std::size_t i = 0; i < pieces_; ++i) {
    std::memcpy(share + i * piece_, from + i * apart_, piece_);
  }
}

void Share::put(const std::byte* share, std::int64_t column, std::span<std::byte> whole) const {
  std::byte* to = whole.data() + offset(column);
  for (std::size_t i = 0; i < pieces_; ++i) {
    std::memcpy(to + i * apart_, share + i * piece_, piece_);
  }
}

}  // namespace trainward::trainer
