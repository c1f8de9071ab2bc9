#define TRAINWARD_LOOP_NAMESPACE v4
#include "trainer/optim/adamw_loops.inc"
