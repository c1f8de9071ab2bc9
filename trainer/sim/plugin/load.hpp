// Puts a compiled image onto a client's devices.
#pragma once

#include <memory>

#include "trainer/sim/plugin/handles.hpp"

namespace trainward::n300 {

// Error 13 for what the processor behind the device cannot compute.
Answer<std::unique_ptr<pjrt::abi::LoadedExecutable>> load_image(pjrt::abi::Client& client,
                                                                std::shared_ptr<const Image> image);

}  // namespace trainward::n300
