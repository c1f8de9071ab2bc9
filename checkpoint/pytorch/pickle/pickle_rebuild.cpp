#include "checkpoint/pytorch/pickle/pickle_rebuild.hpp"

namespace trainward::checkpoint::pytorch {
namespace {

constexpr std::size_t most_dimensions = 64;
constexpr std::size_t longest_key = 256;
constexpr std::size_t most_tensors = 1U << 18U;

tl::unexpected<Error> wrong(std::string what, std::string hint = {}) {
  return fail(ErrorKind::corrupt, std::move(what), {}, std::move(hint));
}

std::uint64_t item_bytes(std::optional<DType> type) { return type ? bits_of(*type) / 8 : 1; }

bool multiply(std::uint64_t a, std::uint64_t b, std::uint64_t& product) {
  return !__builtin_mul_overflow(a, b, &product) && product <= (1ULL << 61U);
}

bool is_empty_dict(const Tree& tree, NodeId id) {
  const Dict* dict = tree.as<Dict>(id);
  return tree.as<None>(id) != nullptr ||
         (dict != nullptr && dict->entries.empty() && dict->attributes == no_node);
}

// A view of a storage in a very old file: (key, offset, size), in elements.
Status narrow(const Tree& tree, NodeId id, std::uint64_t item, StorageSlice& slice) {
  if (tree.as<None>(id) != nullptr) return {};
  const Tuple* view = tree.as<Tuple>(id);
  if (view == nullptr || view->items.size() != 3) {
    return wrong("the view of a storage is neither None nor three values");
  }
  const auto* offset = tree.as<std::int64_t>(view->items[1]);
  const auto* size = tree.as<std::int64_t>(view->items[2]);
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  if (offset == nullptr || size == nullptr || *offset < 0 || *size < 0 ||
      !multiply(static_cast<std::uint64_t>(*offset), item, begin) ||
      !multiply(static_cast<std::uint64_t>(*size), item, bytes) || begin > slice.bytes ||
      bytes > slice.bytes - begin) {
    return wrong("the view of a storage reaches beyond it");
  }
  slice.begin = begin;
  slice.bytes = bytes;
  return {};
}

}  // namespace

std::optional<std::uint64_t> span_of(const Tensor& tensor) {
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i] == 0) return 0;
    std::uint64_t reach = 0;
    if (!multiply(static_cast<std::uint64_t>(tensor.shape[i]) - 1,
                  static_cast<std::uint64_t>(tensor.stride[i]), reach)) {
      return std::nullopt;
    }
    last += reach;  // 64 terms of at most 2^61 could overflow, so each sum is looked at
    if (last > (1ULL << 61U)) return std::nullopt;
  }
  std::uint64_t bytes = 0;
  if (!multiply(last + 1, item_bytes(tensor.dtype), bytes)) return std::nullopt;
  return bytes;
}

Result<StorageSlice> Rebuilder::storage(NodeId id) {
  const Tuple* parts = tree_.as<Tuple>(id);
  const std::string* kind =
      parts == nullptr || parts->items.empty() ? nullptr : tree_.as<std::string>(parts->items[0]);
  if (kind == nullptr) return wrong("a persistent id is not a tuple that begins with its kind");
  if (*kind == "module") {
    return wrong("holds the code of a pickled nn.Module",
                 "save model.state_dict() instead of the model");
  }
  if (*kind != "storage" || (parts->items.size() != 5 && parts->items.size() != 6)) {
    return wrong("a persistent id is not that of a storage");
  }
  const auto* type = tree_.as<const Global*>(parts->items[1]);
  const std::string* key = tree_.as<std::string>(parts->items[2]);
  const std::string* location = tree_.as<std::string>(parts->items[3]);
  const auto* elements = tree_.as<std::int64_t>(parts->items[4]);
  if (type == nullptr || (*type)->role != Role::storage) {
    return wrong("a persistent id does not name the class of its storage");
  }
  if (key == nullptr || key->empty() || key->size() > longest_key || location == nullptr) {
    return wrong("the key or the location of a storage is not a short text");
  }
  const std::uint64_t item = item_bytes((*type)->dtype);
  Storage storage{*key, (*type)->dtype, 0};
  if (elements == nullptr || *elements < 0 ||
      !multiply(static_cast<std::uint64_t>(*elements), item, storage.bytes)) {
    return wrong(fmt::format("storage '{}' has no possible number of elements", *key));
  }
  const auto next = static_cast<std::uint32_t>(tree_.storages.size());
  const auto [found, fresh] = by_key_.emplace(*key, next);
  if (fresh) {
    tree_.storages.push_back(std::move(storage));
  } else if (const Storage& known = tree_.storages[found->second];
             known.dtype != storage.dtype || known.bytes != storage.bytes) {
    return wrong(fmt::format("storage '{}' is described in two ways", *key));
  }
  StorageSlice slice{found->second, 0, tree_.storages[found->second].bytes};
  if (parts->items.size() == 6) {
    if (auto ok = narrow(tree_, parts->items[5], item, slice); !ok) return propagate(ok);
  }
  return slice;
}

Status Rebuilder::take_shape(NodeId size, NodeId stride, Tensor& tensor) const {
  const Tuple* extents = tree_.as<Tuple>(size);
  if (const Call* call = tree_.as<Call>(size); call != nullptr && call->function->name == "Size") {
    const Tuple* arguments = tree_.as<Tuple>(call->arguments);
    if (arguments != nullptr && !arguments->items.empty()) {
      extents = tree_.as<Tuple>(arguments->items[0]);
    }
  }
  const Tuple* strides = tree_.as<Tuple>(stride);
  if (extents == nullptr || strides == nullptr || extents->items.size() != strides->items.size() ||
      extents->items.size() > most_dimensions) {
    return wrong("the shape and the strides of a tensor do not fit together");
  }
  for (std::size_t i = 0; i < extents->items.size(); ++i) {
    const auto* extent = tree_.as<std::int64_t>(extents->items[i]);
    const auto* step = tree_.as<std::int64_t>(strides->items[i]);
    if (extent == nullptr || step == nullptr || *extent < 0 || *step < 0) {
      return wrong("an extent or stride of a tensor is not a whole number from 0 on");
    }
    tensor.shape.push_back(*extent);
    tensor.stride.push_back(*step);
  }
  return {};
}

Result<TensorRef> Rebuilder::view(const Global& function, const std::vector<NodeId>& arguments) {
  const bool plain = function.role == Role::rebuild_tensor;
  const bool typed = function.role == Role::rebuild_tensor_v3;
  const std::size_t least = plain ? 4 : typed ? 7 : 6;
  if (arguments.size() < least || arguments.size() > least + (plain ? 0 : 1)) {
    return wrong(fmt::format("{} is called with {} values", function.name, arguments.size()));
  }
  const StorageSlice* slice = tree_.as<StorageSlice>(arguments[0]);
  const auto* offset = tree_.as<std::int64_t>(arguments[1]);
  if (slice == nullptr || offset == nullptr || *offset < 0) {
    return wrong(fmt::format("{} is not called with a storage and an offset", function.name));
  }
  Tensor tensor;
  tensor.storage = slice->storage;
  std::optional<DType> type = tree_.storages[slice->storage].dtype;
  if (!plain) {
    const bool* gradient = tree_.as<bool>(arguments[4]);
    if (gradient == nullptr || !is_empty_dict(tree_, arguments[5])) {
      return wrong("a tensor comes with hooks, or its requires_grad is not true or false");
    }
    tensor.requires_grad = *gradient;
    if (arguments.size() > least && !is_empty_dict(tree_, arguments[least])) {
      return wrong("a tensor carries metadata (it is conjugated or negated)",
                   "save its resolve_conj().resolve_neg()");
    }
  }
  if (typed) {
    const auto* named = tree_.as<const Global*>(arguments[6]);
    if (named == nullptr || !(*named)->dtype || (*named)->role != Role::constant) {
      return wrong("safetensors does not support the element type of a tensor");
    }
    type = (*named)->dtype;
  }
  if (!type) return wrong("a tensor without an element type");
  tensor.dtype = *type;
  if (auto ok = take_shape(arguments[2], arguments[3], tensor); !ok) return propagate(ok);
  const auto bytes = span_of(tensor);
  std::uint64_t begin = 0;
  if (!bytes || !multiply(static_cast<std::uint64_t>(*offset), item_bytes(type), begin) ||
      !byte_count({{}, *type, tensor.shape})) {
    return wrong("the size of a tensor is beyond 2^61 bytes");
  }
  if (begin > slice->bytes || *bytes > slice->bytes - begin) {
    return wrong(fmt::format("a tensor needs bytes {} to {} of storage '{}', which has {}", begin,
                             begin + *bytes, tree_.storages[slice->storage].key, slice->bytes));
  }
  tensor.begin = slice->begin + begin;
  tree_.tensors.push_back(std::move(tensor));
  return TensorRef{static_cast<std::uint32_t>(tree_.tensors.size() - 1)};
}

Result<TensorRef> Rebuilder::parameter(const Global& function,
                                       const std::vector<NodeId>& arguments) {
  const bool built = function.role == Role::parameter;
  const std::size_t most = function.role == Role::rebuild_with_state ? 4 : built ? 2 : 3;
  const Tensor* data = arguments.empty() ? nullptr : tree_.tensor(arguments[0]);
  if (data == nullptr || arguments.size() > most || (!built && arguments.size() != most)) {
    return wrong(fmt::format("{} is not called with a tensor", function.name));
  }
  const bool* gradient = arguments.size() > 1 ? tree_.as<bool>(arguments[1]) : nullptr;
  if ((arguments.size() > 1 && gradient == nullptr) ||
      (arguments.size() > 2 && !is_empty_dict(tree_, arguments[2]))) {
    return wrong("a parameter comes with hooks, or its requires_grad is not true or false");
  }
  if (arguments.size() > 3 && !is_empty_dict(tree_, arguments[3])) {
    return wrong("a parameter carries attributes of its own", "save a plain state_dict()");
  }
  Tensor tensor = *data;
  tensor.parameter = true;
  tensor.requires_grad = gradient == nullptr || *gradient;
  tree_.tensors.push_back(std::move(tensor));
  return TensorRef{static_cast<std::uint32_t>(tree_.tensors.size() - 1)};
}

Result<TensorRef> Rebuilder::tensor(const Global& function, NodeId arguments) {
  const Tuple* tuple = tree_.as<Tuple>(arguments);
  if (tuple == nullptr) return wrong(fmt::format("{} is called without a tuple", function.name));
  if (tree_.tensors.size() >= most_tensors) {
    return wrong(fmt::format("the file has more than {} tensors", most_tensors));
  }
  const bool view = function.role == Role::rebuild_tensor ||
                    function.role == Role::rebuild_tensor_v2 ||
                    function.role == Role::rebuild_tensor_v3;
  return view ? this->view(function, tuple->items) : parameter(function, tuple->items);
}

}  // namespace trainward::checkpoint::pytorch
