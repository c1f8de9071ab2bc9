#define TRAINWARD_LOOP_NAMESPACE v3
#include "trainer/optim/adamw_loops.inc"
