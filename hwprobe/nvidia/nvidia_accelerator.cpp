#include "hwprobe/accelerators/accelerators.hpp"
#include "hwprobe/nvidia/nvidia_verdict.hpp"

namespace trainward::hwprobe {

Accelerator nvidia() {
  Accelerator gpus;
  gpus.name = "nvidia";
  gpus.printed = {"--nvidia", "what nvidia-smi -q -x printed: a file, or - for standard input",
                  max_nvidia_smi_bytes, read_nvidia_smi};
  return gpus;
}

}  // namespace trainward::hwprobe
