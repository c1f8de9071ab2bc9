#define TRAINWARD_TILE_NAMESPACE v4
#include "trainer/cpu/tile_kernels.inc"
