// Named places where a test may end the process, as a power cut or the OOM killer would.
//
// TRAINWARD_FAULT=NAME or NAME:N in the environment makes the Nth passage (1 by default) through
// that place a SIGKILL of this process. Without the variable a passage costs one comparison.
#pragma once

namespace trainward {

void fault_point(const char* name);

}  // namespace trainward
