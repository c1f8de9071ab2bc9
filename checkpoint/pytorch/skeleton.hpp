// Everything of a PyTorch file that is no tensor data, as JSON that can be turned back.
//
// Numbers, texts, lists and dictionaries with text keys are what they look like. The rest is an
// object with one key that begins with '$':
//
//   {"$tuple": […]}  {"$set": […]}  {"$bits": "hex of a large integer"}  {"$float": "hex of nan or
//   infinity"}
//   {"$dict": [[key, value], …]}                 keys other than texts, or texts with a '$'
//   {"$ordered": {…} or [[key, value], …], "$attributes": {…}}      an OrderedDict
//   {"$name": "torch.float32"}  {"$call": "torch.Size", "arguments": […]}
//   {"$tensor": "NAME", …}  {"$scalar": "F32", …}  {"$state": "step"}      see import.cpp
//
// In: a tree. Out: JSON no deeper than a state.json may be. What cannot be kept (too deep, too
// large: shared references multiply when they are written out) is refused, kind permanent. A bare
// storage is refused. Nothing is recursive. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "checkpoint/pytorch/pickle/pickle_tree.hpp"
#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::checkpoint::pytorch {

// Where a value stands: entry `index` of the node `parent`.
struct Occurrence {
  NodeId node = no_node;
  NodeId parent = no_node;
  std::size_t index = 0;
  std::string_view path;  // "opt.state.0.exp_avg"
};

// Asked for every tensor, which it must answer, and every whole number, where nothing means "as it
// is".
using Replace = std::function<Result<std::optional<json::value>>(const Occurrence&)>;

Result<json::value> to_skeleton(const Tree& tree, const Replace& replace);

}  // namespace trainward::checkpoint::pytorch
