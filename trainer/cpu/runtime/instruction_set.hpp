// Which of the builds of our own loops this processor can run.
#pragma once

namespace trainward::cpu {

enum class InstructionSet {
  base,  // what the compiler targets by default
  v3,    // x86-64-v3: AVX2, FMA
  v4,    // x86-64-v4: AVX-512 F, BW, CD, DQ, VL
};

InstructionSet instruction_set();

}  // namespace trainward::cpu
