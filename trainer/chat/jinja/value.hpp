// What the parts of a template evaluate to: Python's values, as far as templates meet them.
//
// Lists and mappings never change (the sandbox that templates are written for forbids it), so
// copies share them. Namespaces do change; they live in the rendering, and a value names one by its
// number, so nothing can contain itself. Nesting depth and total size, counting shared parts each
// time, are bounded when a value is made: every traversal ends. Errors: usage, without a place: the
// evaluation knows the line.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "trainer/chat/jinja/limits.hpp"
#include "trainer/chat/jinja/template_text.hpp"

namespace trainward::trainer::jinja {

class Value;
struct Loop;
struct Macro;
using Items = std::vector<Value>;
using Entries = std::vector<std::pair<Value, Value>>;  // in the order they were put in, keys once

struct Extent {
  int depth = 0;
  std::size_t weight = 1;  // steps of going through all of it
};

struct Undefined {
  std::string name;  // what was looked for
};
struct None {};
struct Sequence {
  // A view is what keys(), values() and items() give: it has a length, and no places. A generator
  // is what map, select and their like give: true whatever is in it, without a length.
  enum class Kind { list, tuple, range, view, generator };
  Kind kind = Kind::list;
  std::shared_ptr<const Items> items;
  Extent extent;
};
struct Mapping {
  std::shared_ptr<const Entries> entries;
  Extent extent;
};
struct NamespaceName {
  std::size_t number = 0;
};
struct Function {
  enum class Id { range, dict, make_namespace, raise_exception, strftime_now };
  Id id = Id::range;
};

class Value {
 public:
  using Kinds = std::variant<Undefined, None, bool, std::int64_t, double,
                             std::shared_ptr<const Text>, Sequence, Mapping, NamespaceName,
                             Function, const Macro*, std::shared_ptr<const Loop>>;

  Value() = default;  // undefined
  explicit Value(Kinds kinds) : is_(std::move(kinds)) {}
  explicit Value(Text text) : is_(std::make_shared<const Text>(std::move(text))) {}

  const Kinds& is() const { return is_; }
  template <typename T>
  const T* as() const {
    return std::get_if<T>(&is_);
  }
  const Text* text() const {
    const auto* held = as<std::shared_ptr<const Text>>();
    return held != nullptr ? held->get() : nullptr;
  }
  bool undefined() const { return as<Undefined>() != nullptr; }

 private:
  Kinds is_;
};

// The pass of a loop that `loop` speaks of.
struct Loop {
  Sequence items;
  std::size_t index0 = 0;
};

inline Value undefined(std::string_view name) { return Value(Undefined{std::string(name)}); }
Result<Value> sequence(Items items, Budget& budget, Sequence::Kind kind = Sequence::Kind::list);
// Keys are texts, numbers or none. Of one that is there twice the last value counts, in the place
// of the first.
Result<Value> mapping(Entries entries, Budget& budget);
Result<Value> from_json(const json::value& value, Mark mark, Budget& budget);

Extent extent_of(const Value& value);

// "a text", "a list", …: for messages.
std::string_view kind_name(const Value& value);

// Whether it may be a key of a mapping.
bool is_key(const Value& value);

bool truth(const Value& value);
// 1 == 1.0 == true, as in Python; namespaces are themselves alone.
bool equal(const Value& a, const Value& b);
// Negative, 0, positive; an error for what has no order. NaN is equal to nothing, and so has none.
Result<int> compare(const Value& a, const Value& b);
const Value* find(const Mapping& mapping, const Value& key);
const Value* find(const Mapping& mapping, std::string_view key);

// What a loop over the value meets: items, keys, characters; nothing for undefined.
Result<Sequence> iterate(const Value& value, Budget& budget);

// As {{ value }} prints it, and as it stands inside a list that is printed.
Result<Text> printed(const Value& value, Budget& budget);
// json.dumps(value, ensure_ascii=False): with `indent`, a line an item.
struct JsonStyle {
  bool lines = false;
  std::string indent;
  std::string item_end = ", ";
  std::string key_end = ": ";
};
Result<Text> json_text(const Value& value, const JsonStyle& style, Budget& budget);
// A number as Python writes it.
std::string number_as_text(double number);

}  // namespace trainward::trainer::jinja
