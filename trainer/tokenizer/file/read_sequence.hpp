// What several parts of a tokenizer.json have in common: members that may be null, a type, and one
// step or a "Sequence" of steps.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::trainer {

// nullptr where it is absent or null.
const json::value* member(const json::object& object, std::string_view key);

// An object's declared type; "?" if it declares nothing or `value` is not an object.
std::string type_of(const json::value& value);

struct SequenceForm {
  std::string_view list;   // the key that holds the steps
  std::string_view steps;  // what they are called in an error
  std::size_t most;        // as many of them
};

using ReadStep = std::function<Status(const json::value& step, const std::string& where)>;

// Reads each step in its order; `where` is the path of the value, for errors.
Status read_sequence(const json::value& value, const std::string& where, const SequenceForm& form,
                     const ReadStep& read_step);

}  // namespace trainward::trainer
