// A module as StableHLO text, as the machines' compilers read it ("mlir", openxla/stablehlo's own
// spelling). One public function, @main; static shapes.
//
// Equal modules print equally. Not in the text: parameters' names, `held` marks, and which of two
// equal constants a node reads; a constant that is not read is not written. Otherwise parse.hpp
// reads back the same graph. Pure.
//
// Errors (usage) name the node and say why StableHLO cannot express it; what lower() returns can
// always be printed: scatter, a product of f32 operands that rounds them, a shift whose count may
// be 32 or more, arithmetic on bf16 counts or predicates, a sum over other than the module's
// replicas, and what Module's own rules exclude.
#pragma once

#include <string>

#include "common/base/error.hpp"
#include "trainer/stablehlo/module.hpp"

namespace trainward::stablehlo {

Result<std::string> print(const Module& module);

}  // namespace trainward::stablehlo
