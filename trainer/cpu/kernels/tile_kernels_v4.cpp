#define TRAINWARD_TILE_NAMESPACE v4
#include "trainer/cpu/kernels/tile_kernels.inc"
