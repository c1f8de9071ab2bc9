// What a pickle of PyTorch holds, as data: nodes in one array that refer to each other by number.
//
// Sharing (the pickle's memo) is two references to one number, so nothing is copied and a tree may
// have cycles: code that walks it must bound depth and output. Freeing it is a loop over arrays.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "checkpoint/format/tensor.hpp"
#include "checkpoint/pytorch/pickle/globals.hpp"

namespace trainward::checkpoint::pytorch {

using NodeId = std::uint32_t;
inline constexpr NodeId no_node = UINT32_MAX;

struct None {};
// Beyond 64 bits: two's complement, least significant byte first.
struct BigInteger {
  std::string bytes;
};
struct List {
  std::vector<NodeId> items;
};
struct Tuple {
  std::vector<NodeId> items;
};
struct Set {
  std::vector<NodeId> items;
};
struct Dict {
  std::vector<std::pair<NodeId, NodeId>> entries;  // in order; no key twice
  NodeId attributes = no_node;                     // a Dict; OrderedDict's `__dict__`
  bool ordered = false;                            // collections.OrderedDict
};
// An allowed call whose meaning we need not know: torch.Size((2, 3)), torch.device('cpu').
struct Call {
  const Global* function = nullptr;
  NodeId arguments = no_node;  // a Tuple
};
struct StorageSlice {
  std::uint32_t storage = 0;  // index into Tree::storages
  std::uint64_t begin = 0;    // in bytes; not 0 only for the views of very old files
  std::uint64_t bytes = 0;
};
struct TensorRef {
  std::uint32_t tensor = 0;  // index into Tree::tensors
};

using Node = std::variant<None, bool, std::int64_t, double, BigInteger, std::string, List, Tuple,
                          Set, Dict, const Global*, Call, StorageSlice, TensorRef>;

// A run of bytes in the file that tensors are views of.
struct Storage {
  std::string key;
  std::optional<DType> dtype;  // none: untyped bytes
  std::uint64_t bytes = 0;
};

// A view of a storage that was checked to lie inside it.
struct Tensor {
  std::uint32_t storage = 0;
  DType dtype = DType::f32;
  std::uint64_t begin = 0;           // of element 0, in bytes from the start of the storage
  std::vector<std::int64_t> shape;   // in elements
  std::vector<std::int64_t> stride;  // in elements, one for every extent
  bool requires_grad = false;
  bool parameter = false;  // torch.nn.Parameter

  friend bool operator==(const Tensor&, const Tensor&) = default;
};

struct Tree {
  std::vector<Node> nodes;
  std::vector<Storage> storages;
  std::vector<Tensor> tensors;
  NodeId root = no_node;

  [[nodiscard]] const Node& at(NodeId id) const { return nodes[id]; }
  template <typename T>
  [[nodiscard]] const T* as(NodeId id) const {
    return id < nodes.size() ? std::get_if<T>(&nodes[id]) : nullptr;
  }
  [[nodiscard]] const Tensor* tensor(NodeId id) const {
    const TensorRef* ref = as<TensorRef>(id);
    return ref == nullptr ? nullptr : &tensors[ref->tensor];
  }
  // The value under a text key of a Dict; no_node if absent.
  [[nodiscard]] NodeId find(NodeId dict, std::string_view key) const;
};

// "a list", "a tensor": for errors.
std::string_view kind_of(const Node& node);

// A spelling that is different for different keys of a dictionary; empty for what cannot be one.
std::string key_spelling(const Node& node);

}  // namespace trainward::checkpoint::pytorch
