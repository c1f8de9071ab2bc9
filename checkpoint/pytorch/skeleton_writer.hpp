// Turns a skeleton (skeleton.hpp) back into a pickle.
//
// In: JSON and a function that says what a tensor or counter object becomes. Out: the pickle in the
// spelling of one layout. What is no skeleton is refused, kind corrupt, with its place. Nothing is
// recursive. Pure apart from the function.
#pragma once

#include <functional>
#include <string>

#include "checkpoint/pytorch/archive/pickle_writer.hpp"
#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::checkpoint::pytorch {

// Writes the value of an object whose first key is "$tensor", "$scalar", "$state" or "$count".
using WriteLeaf = std::function<Status(const json::object& leaf, PickleWriter& out)>;

Result<std::string> to_pickle(const json::value& skeleton, const WriteLeaf& leaf);

}  // namespace trainward::checkpoint::pytorch
