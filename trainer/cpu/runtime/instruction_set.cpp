#include "trainer/cpu/runtime/instruction_set.hpp"

namespace trainward::cpu {

InstructionSet instruction_set() {
#if defined(__x86_64__)
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  if (v4) return InstructionSet::v4;
  if (v3) return InstructionSet::v3;
#endif
  return InstructionSet::base;
}

}  // namespace trainward::cpu
