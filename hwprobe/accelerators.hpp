// Every kind of accelerator that this program knows: a line each.
#pragma once

#include <vector>

#include "hwprobe/accelerator.hpp"

namespace trainward::hwprobe {

std::vector<Accelerator> accelerators();

}  // namespace trainward::hwprobe
