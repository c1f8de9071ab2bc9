// What devices can do at most, by their vendors' data sheets. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "trainer/graph/op.hpp"

namespace trainward::trainer {

// Floating-point operations a second of one device in matrix products without sparsity, sums in
// f32. `kind` is what the plugin calls it ("NVIDIA H100 80GB HBM3"). Nothing: it is not known.
std::optional<double> peak_flops(std::string_view kind, graph::Precision precision);

}  // namespace trainward::trainer
