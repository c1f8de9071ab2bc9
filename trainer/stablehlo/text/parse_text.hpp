// Reads the StableHLO that print() writes.
//
// Whatever the SSA names, white space, // comments, attributes' order, and with or without what
// StableHLO lets one leave out; nothing else: another operation, a dynamic shape or a constant that
// is not one value repeated is refused. Bounded in bytes, nodes, rank and sizes; any bytes will do.
// Parameters are called arg0, arg1, … Pure.
// Errors (corrupt) name the line: "line 7: stablehlo.while is not supported".
#pragma once

#include <string_view>

#include "common/base/error.hpp"
#include "trainer/stablehlo/module.hpp"

namespace trainward::stablehlo {

// `where` names the text in errors.
Result<Module> parse(std::string_view text, std::string_view where);

}  // namespace trainward::stablehlo
