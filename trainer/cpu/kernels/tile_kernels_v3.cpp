#define TRAINWARD_TILE_NAMESPACE v3
#include "trainer/cpu/kernels/tile_kernels.inc"
