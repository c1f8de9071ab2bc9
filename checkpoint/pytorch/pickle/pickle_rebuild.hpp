// Storages and tensors out of the calls and references of a pickle.
//
// In: the tuple of arguments, already parsed. Out: checked entries of Tree::storages and
// Tree::tensors. Errors have no place yet; the reader adds the byte offset. Pure.
#pragma once

#include <string>
#include <unordered_map>

#include "checkpoint/pytorch/pickle/pickle_tree.hpp"
#include "common/base/error.hpp"

namespace trainward::checkpoint::pytorch {

class Rebuilder {
 public:
  explicit Rebuilder(Tree& tree) : tree_(tree) {}

  // ('storage', class, key, location, elements[, view]) of a persistent id. The same key must
  // always come with the same class and size.
  Result<StorageSlice> storage(NodeId id);

  // What `function`, one of the tensor roles, makes of the tuple `arguments`.
  Result<TensorRef> tensor(const Global& function, NodeId arguments);

 private:
  Result<TensorRef> view(const Global& function, const std::vector<NodeId>& arguments);
  Result<TensorRef> parameter(const Global& function, const std::vector<NodeId>& arguments);
  Status take_shape(NodeId size, NodeId stride, Tensor& tensor) const;

  Tree& tree_;
  std::unordered_map<std::string, std::uint32_t> by_key_;
};

// Bytes from the first element to behind the last; none for an empty tensor. Nothing on overflow.
std::optional<std::uint64_t> span_of(const Tensor& tensor);

}  // namespace trainward::checkpoint::pytorch
