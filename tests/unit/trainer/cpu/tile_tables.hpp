// The innermost loops in every instruction set this machine has.
#pragma once

#include <vector>

#include "trainer/cpu/kernels/tile_kernels.hpp"
#include "trainer/cpu/runtime/instruction_set.hpp"

namespace trainward::cpu::test {

using Table = TileFn (*)(TileOp);

inline std::vector<Table> tables() {
  std::vector<Table> all{base::tile_kernel};
#if defined(__x86_64__)
  if (instruction_set() >= InstructionSet::v3) all.push_back(v3::tile_kernel);
  if (instruction_set() >= InstructionSet::v4) all.push_back(v4::tile_kernel);
#endif
  return all;
}

inline std::vector<ShareLoops> all_share_loops() {
  std::vector<ShareLoops> all{base::share_loops()};
#if defined(__x86_64__)
  if (instruction_set() >= InstructionSet::v3) all.push_back(v3::share_loops());
  if (instruction_set() >= InstructionSet::v4) all.push_back(v4::share_loops());
#endif
  return all;
}

}  // namespace trainward::cpu::test
