#include "trainer/graph/type.hpp"

#include <fmt/ranges.h>

namespace trainward::graph {

std::string_view to_string(Element element) {
  switch (element) {
    case Element::f32:
      return "f32";
    case Element::bf16:
      return "bf16";
    case Element::i32:
      return "i32";
    case Element::pred:
      return "pred";
  }
  return "?";
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

std::string to_string(const Type& type) {
  return fmt::format("{}{}", to_string(type.element), to_string(type.shape));
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

Shape contiguous_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

}  // namespace trainward::graph
