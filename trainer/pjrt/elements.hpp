// Element types of graphs and of PJRT, for those who use a plugin and those who write one.
#pragma once

#include <cstddef>
#include <optional>

#include "trainer/graph/type.hpp"
#include "trainer/pjrt/abi/types.hpp"

namespace trainward::pjrt {

constexpr abi::Buffer_Type buffer_type(graph::Element element) {
  switch (element) {
    case graph::Element::f32:
      return abi::Buffer_Type_F32;
    case graph::Element::bf16:
      return abi::Buffer_Type_BF16;
    case graph::Element::i32:
      return abi::Buffer_Type_S32;
    case graph::Element::pred:
      return abi::Buffer_Type_PRED;
  }
  return abi::Buffer_Type_INVALID;
}

// Empty: we have no such type.
constexpr std::optional<graph::Element> element_of(abi::Buffer_Type type) {
  for (const auto element :
       {graph::Element::f32, graph::Element::bf16, graph::Element::i32, graph::Element::pred}) {
    if (buffer_type(element) == type) return element;
  }
  return std::nullopt;
}

// Of one on the host; a pred takes a byte.
constexpr std::size_t byte_size(graph::Element element) {
  switch (element) {
    case graph::Element::f32:
    case graph::Element::i32:
      return 4;
    case graph::Element::bf16:
      return 2;
    case graph::Element::pred:
      return 1;
  }
  return 0;
}

}  // namespace trainward::pjrt
