// Every kind of accelerator that this program knows: a line each.
#pragma once

#include <vector>

#include "hwprobe/accelerators/accelerator.hpp"

namespace trainward::hwprobe {

// Made in the folder of that name.
Accelerator nvidia();       // NVIDIA's GPUs: by what nvidia-smi prints
Accelerator tenstorrent();  // through the kernel, their registers and tt-smi, or in the simulator

std::vector<Accelerator> accelerators();

}  // namespace trainward::hwprobe
