// What the driver publishes of a working board beyond what hwmon and the AER counters say.
#pragma once

#include <string>

#include "hwprobe/stages/files.hpp"
#include "hwprobe/watch/sample.hpp"

namespace trainward::hwprobe {

// Clock and heartbeat; nothing for a device of another driver. Opens no device.
void add_to_sample(Files& files, const std::string& bus_id, Sample& sample);

}  // namespace trainward::hwprobe
