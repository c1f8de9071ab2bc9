#define TRAINWARD_TILE_NAMESPACE base
#include "trainer/cpu/tile_kernels.inc"
