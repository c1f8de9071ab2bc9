#define TRAINWARD_LOOP_NAMESPACE base
#include "trainer/optim/adamw_loops.inc"
