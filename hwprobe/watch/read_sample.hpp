// A sample of a board from the kernel's files: hwmon and the AER counters.
//
// In: Files and the board's PCI address. Out: what could be read; what could not is unset. Opens no
// device and no configuration space. A read may block in the kernel: only in a process that may be
// ended (watch_stream.hpp). Works for any PCI device: what is not there is left out. What else
// a vendor's boards publish, Accelerator::sample adds.
#pragma once

#include <string>

#include "hwprobe/stages/files.hpp"
#include "hwprobe/watch/sample.hpp"

namespace trainward::hwprobe {

Sample read_sample(Files& files, const std::string& bus_id);

}  // namespace trainward::hwprobe
