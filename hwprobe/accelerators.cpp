#include "hwprobe/accelerators.hpp"

namespace trainward::hwprobe {

std::vector<Accelerator> accelerators() {
  return {
      nvidia(),
      tenstorrent(),
  };
}

}  // namespace trainward::hwprobe
