// How threads wait for each other between parallel regions.
//
// The OpenMP runtime spins by default: fine on an idle machine, ruinous when anything else wants
// the cores (measured on 2 busy cores: 6 times slower). It reads its policy from the environment
// before main() begins, so a program that wants another must start itself again.
#pragma once

#include "common/base/error.hpp"

namespace trainward::cpu {

// Unless OMP_WAIT_POLICY is set already: sets it to PASSIVE and runs this program again, in this
// process, with the same arguments. Call first thing in main(), before any thread or file exists.
// Returns when nothing needed doing, or with the error (permanent) when the program cannot be run
// again; going on then is safe, only slower on a busy machine.
Status wait_passively(char* const* arguments);

}  // namespace trainward::cpu
