#include "hwprobe/accelerators/accelerators.hpp"

namespace trainward::hwprobe {

std::vector<Accelerator> accelerators() {
  return {
      nvidia(),
      tenstorrent(),
  };
}

}  // namespace trainward::hwprobe
