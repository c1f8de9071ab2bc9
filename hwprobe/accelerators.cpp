#include "hwprobe/accelerators.hpp"

#include "hwprobe/nvidia/accelerator.hpp"
#include "hwprobe/tenstorrent/accelerator.hpp"

namespace trainward::hwprobe {

std::vector<Accelerator> accelerators() {
  return {
      nvidia(),
      tenstorrent(),
  };
}

}  // namespace trainward::hwprobe
