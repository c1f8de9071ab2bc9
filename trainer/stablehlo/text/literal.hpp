// One number inside dense<…>, and what depends on the element type alone, as StableHLO spells it.
//
// Exact: an f32 or bf16 as the shortest decimal that reads back, or by its bits where it is no
// number; every NaN is the same one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trainer/graph/type.hpp"

namespace trainward::stablehlo {

std::string_view element_name(graph::Element element);  // "f32", "bf16", "i32", "i1"

// What a comparison of such elements is called: "FLOAT", "SIGNED", "UNSIGNED".
std::string_view comparison_of(graph::Element element);

// A graph's constant is rounded to its element as executors do.
std::string literal(double value, graph::Element element);

// Nothing when the text is no such number, or one the element cannot hold.
std::optional<double> read_literal(std::string_view text, graph::Element element);

}  // namespace trainward::stablehlo
