#include "trainer/cpu/runtime/instruction_set.hpp"
#include "trainer/optim/adamw_loops.hpp"

namespace trainward::optim {

AdamWLoops adamw_loops() {
#if defined(__x86_64__)
  switch (cpu::instruction_set()) {
    case cpu::InstructionSet::v4:
      return v4::adamw_loops();
    case cpu::InstructionSet::v3:
      return v3::adamw_loops();
    case cpu::InstructionSet::base:
      break;
  }
#endif
  return base::adamw_loops();
}

}  // namespace trainward::optim
