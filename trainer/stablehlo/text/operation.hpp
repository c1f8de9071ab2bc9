// Reads one operation of a function's body.
#pragma once

#include "trainer/stablehlo/text/scope.hpp"

namespace trainward::stablehlo {

// "%2 = stablehlo.add %0, %1 : tensor<4xf32>": the value is named in `scope`. What is wrong fails
// the cursor, which is the scope's. `replicas`: devices that run the program.
void read_operation(Cursor& in, Scope& scope, std::int64_t replicas);

}  // namespace trainward::stablehlo
