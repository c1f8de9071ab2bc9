#include "checkpoint/pytorch/import_collector.hpp"

#include <algorithm>

#include "checkpoint/pytorch/pickle/hex.hpp"

namespace trainward::checkpoint::pytorch {
namespace {

std::string printable(std::string_view text) {
  std::string name(text.substr(0, 4000));
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '_');
  // A cut must not leave half a character.
  while (text.size() > 4000 && !name.empty() && (static_cast<unsigned char>(name.back()) & 0x80U)) {
    name.pop_back();
  }
  return name.empty() || name == "__metadata__" ? name + "_" : name;
}

void add_flags(json::object& object, const Tensor& tensor) {
  if (tensor.requires_grad) object["grad"] = true;
  if (tensor.parameter) object["parameter"] = true;
}

}  // namespace

ImportCollector::ImportCollector(std::shared_ptr<const Archive> archive, const ImportPlan& plan)
    : archive_(std::move(archive)),
      reader_(std::make_shared<TensorReader>(*archive_)),
      plan_(plan) {}

Result<std::optional<json::value>> ImportCollector::take(const Occurrence& at) {
  if (const Tensor* tensor = archive_->tree.tensor(at.node)) return take_tensor(at, *tensor);
  const auto counter = plan_.counters.find({at.parent, at.index});
  const auto* number = archive_->tree.as<std::int64_t>(at.node);
  if (counter == plan_.counters.end() || number == nullptr) {
    return std::optional<json::value>();
  }
  json::object object;
  switch (counter->second) {
    case Counter::step:
      object["$state"] = "step";
      break;
    case Counter::tokens:
      object["$state"] = "tokens";
      break;
    case Counter::parameter_steps:
      object["$count"] = *number;
      break;
  }
  return std::optional<json::value>(std::move(object));
}

Result<std::optional<json::value>> ImportCollector::take_tensor(const Occurrence& at,
                                                                const Tensor& tensor) {
  const auto planned = plan_.tensors.find({at.parent, at.index});
  const bool known = planned != plan_.tensors.end();
  if (!known && tensor.shape.empty()) {
    auto scalar = take_scalar(at, tensor);
    if (!scalar) return propagate(scalar);
    return std::optional<json::value>(std::move(*scalar));
  }
  PlannedTensor place;
  if (known) {
    place = planned->second;
  } else {
    place.name = at.path.empty() ? "tensor" : std::string(at.path);
    place.optimizer =
        std::any_of(plan_.optimizer_paths.begin(), plan_.optimizer_paths.end(),
                    [&](const std::string& path) { return at.path.starts_with(path); });
  }
  json::object object;
  const View view{tensor.storage, tensor.begin, tensor.dtype, tensor.shape, tensor.stride};
  const auto same = first_.find(view);
  const auto again = by_place_.find({at.parent, at.index});
  // Tied weights are stored once; our trainer alone wants every weight under its own name.
  const bool own = known && plan_.agillm;
  if (again != by_place_.end() && at.parent != no_node) {
    object["$tensor"] = again->second;
  } else if (same != first_.end() && !own) {
    object["$tensor"] = same->second;
  } else {
    place.name = free_name(printable(place.name));
    if (auto ok = add(place, tensor); !ok) return propagate(ok);
    object["$tensor"] = place.name;
    if (same != first_.end()) object["same_as"] = same->second;
    by_place_.emplace(PlaceInTree{at.parent, at.index}, place.name);
    if (same == first_.end()) first_.emplace(view, place.name);
  }
  if (place.rows > 0) object["rows"] = tensor.shape[0];
  add_flags(object, tensor);
  return std::optional<json::value>(std::move(object));
}

Result<json::object> ImportCollector::take_scalar(const Occurrence& at, const Tensor& tensor) {
  std::vector<std::byte> bytes(bits_of(tensor.dtype) / 8);
  if (auto ok = reader_->read(tensor, 0, bytes); !ok) return propagate(ok);
  json::object object;
  object["$scalar"] = to_string(tensor.dtype);
  object["hex"] = to_hex(bytes);
  if (plan_.counters.contains({at.parent, at.index})) object["counts"] = true;
  add_flags(object, tensor);
  return object;
}

Status ImportCollector::add(const PlannedTensor& planned, const Tensor& tensor) {
  TensorInfo info{planned.name, tensor.dtype, tensor.shape};
  const std::uint64_t live = byte_count(info).value_or(UINT64_MAX);
  if (planned.rows > 0) info.shape[0] = planned.rows;
  const auto total = byte_count(info);
  const std::uint64_t limit = 2 * archive_->source->size() + (64ULL << 20U);
  if (!total || *total > limit || bytes_ > limit - *total) {
    return fail(ErrorKind::corrupt,
                fmt::format("'{}' makes the tensors larger than twice the file", planned.name),
                archive_->source->where(),
                "its tensors repeat one storage; save clones of them instead");
  }
  bytes_ += *total;
  auto read = [archive = archive_, reader = reader_, tensor, live](
                  std::uint64_t at, std::span<std::byte> into) -> Status {
    const std::uint64_t there = at < live ? std::min<std::uint64_t>(live - at, into.size()) : 0;
    const auto part = into.first(static_cast<std::size_t>(there));
    if (!part.empty()) {
      if (auto ok = reader->read(tensor, at, part); !ok) return ok;
    }
    std::fill(into.begin() + static_cast<std::ptrdiff_t>(there), into.end(), std::byte{0});
    return {};
  };
  (planned.optimizer ? optimizer_ : model_).push_back({std::move(info), std::move(read)});
  return {};
}

std::string ImportCollector::free_name(std::string_view wanted) {
  std::string name(wanted);
  while (!names_.insert(name).second) {
    name = fmt::format("{}#{}", wanted, ++suffixes_[std::string(wanted)] + 1);
  }
  return name;
}

}  // namespace trainward::checkpoint::pytorch
