#include "trainer/optim/adamw_loops.hpp"

namespace trainward::optim {

AdamWLoops adamw_loops() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) return v4::adamw_loops();
  if (__builtin_cpu_supports("x86-64-v3")) return v3::adamw_loops();
#endif
  return base::adamw_loops();
}

}  // namespace trainward::optim
