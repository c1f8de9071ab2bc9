// NVIDIA's GPUs: by what nvidia-smi prints.
#pragma once

#include "hwprobe/accelerator.hpp"

namespace trainward::hwprobe {

Accelerator nvidia();

}  // namespace trainward::hwprobe
