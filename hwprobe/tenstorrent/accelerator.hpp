// Tenstorrent's boards: through the kernel, their registers and tt-smi, or in the simulator ttsim.
#pragma once

#include "hwprobe/accelerator.hpp"

namespace trainward::hwprobe {

Accelerator tenstorrent();

}  // namespace trainward::hwprobe
