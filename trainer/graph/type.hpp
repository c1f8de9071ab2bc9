// Element types and static shapes of graph values. Row-major; an empty shape is a scalar.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::graph {

// bf16 is for storage: it is converted to and from, moved about, and multiplied by dot_general.
enum class Element { f32, bf16, i32, pred };

using Shape = std::vector<std::int64_t>;

struct Type {
  Element element = Element::f32;
  Shape shape;

  friend bool operator==(const Type&, const Type&) = default;
};

std::string_view to_string(Element element);
std::string to_string(const Shape& shape);  // "[8,128]"
std::string to_string(const Type& type);    // "f32[8,128]"

std::int64_t element_count(const Shape& shape);
Shape contiguous_strides(const Shape& shape);

}  // namespace trainward::graph
