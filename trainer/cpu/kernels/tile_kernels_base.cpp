#define TRAINWARD_TILE_NAMESPACE base
#include "trainer/cpu/kernels/tile_kernels.inc"
