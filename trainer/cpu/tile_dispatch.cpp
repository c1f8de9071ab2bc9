#include "trainer/cpu/tile_kernels.hpp"

namespace trainward::cpu {

TileFn tile_kernel(TileOp op) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) return v4::tile_kernel(op);
  if (__builtin_cpu_supports("x86-64-v3")) return v3::tile_kernel(op);
#endif
  return base::tile_kernel(op);
}

}  // namespace trainward::cpu
