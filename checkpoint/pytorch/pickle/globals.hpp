// The names a pickle may mention, all of them: an allow-list, because lists of what is forbidden
// have been bypassed again and again.
//
// Each name has a role that says what the reader makes of it. Nothing is ever looked up or called.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "checkpoint/format/tensor.hpp"

namespace trainward::checkpoint::pytorch {

enum class Role {
  ordered_dict,        // called without arguments: an empty OrderedDict
  value,               // a call that is kept as it is: torch.Size, set, _codecs.encode, …
  constant,            // kept as it is, never called: torch.float32
  storage,             // the class of a storage
  rebuild_tensor,      // _rebuild_tensor(storage, offset, size, stride)
  rebuild_tensor_v2,   // … requires_grad, hooks[, metadata]
  rebuild_tensor_v3,   // … requires_grad, hooks, dtype[, metadata]
  rebuild_parameter,   // (tensor, requires_grad, hooks)
  rebuild_with_state,  // … and a state, which must be empty
  parameter,           // class torch.nn.Parameter
  unsupported,         // harmless, but what it makes has no place in a checkpoint of ours
  opaque,              // not on the list; see Limits::unknown_names
};

struct Global {
  std::string_view module;
  std::string_view name;
  Role role = Role::constant;
  // Role storage: of its elements, none for untyped bytes. Role constant: the dtype it names.
  std::optional<DType> dtype = {};
  int least_arguments = 0;  // role value
  int most_arguments = 0;
};

// Null when the name is not allowed.
const Global* find_global(std::string_view module, std::string_view name);

// The spelling for a tensor of this type, for writing. `dtype` is null for types that have a
// storage class of their own; the others are untyped bytes and name their type beside it.
struct TypeSpelling {
  const Global* storage = nullptr;
  const Global* dtype = nullptr;
};
std::optional<TypeSpelling> spelling_of(DType type);

}  // namespace trainward::checkpoint::pytorch
