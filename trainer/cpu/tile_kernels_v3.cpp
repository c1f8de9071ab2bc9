#define TRAINWARD_TILE_NAMESPACE v3
#include "trainer/cpu/tile_kernels.inc"
