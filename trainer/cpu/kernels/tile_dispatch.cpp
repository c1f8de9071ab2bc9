#include "trainer/cpu/kernels/tile_kernels.hpp"
#include "trainer/cpu/runtime/instruction_set.hpp"

namespace trainward::cpu {

TileFn tile_kernel(TileOp op) {
#if defined(__x86_64__)
  switch (instruction_set()) {
    case InstructionSet::v4:
      return v4::tile_kernel(op);
    case InstructionSet::v3:
      return v3::tile_kernel(op);
    case InstructionSet::base:
      break;
  }
#endif
  return base::tile_kernel(op);
}

ShareLoops share_loops() {
#if defined(__x86_64__)
  switch (instruction_set()) {
    case InstructionSet::v4:
      return v4::share_loops();
    case InstructionSet::v3:
      return v3::share_loops();
    case InstructionSet::base:
      break;
  }
#endif
  return base::share_loops();
}

}  // namespace trainward::cpu
