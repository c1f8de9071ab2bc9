#include "hwprobe/tenstorrent/samples.hpp"

#include <fmt/format.h>

namespace trainward::hwprobe {

void add_to_sample(Files& files, const std::string& bus_id, Sample& sample) {
  const std::string folder = fmt::format("/sys/bus/pci/devices/{}/tenstorrent", bus_id);
  const auto nodes = files.names(folder);
  if (!nodes || nodes->empty()) return;
  const std::string node = fmt::format("{}/{}", folder, nodes->front());
  sample.clock_mhz = files.number(node + "/tt_aiclk");
  sample.heartbeat = files.number(node + "/tt_heartbeat");
}

}  // namespace trainward::hwprobe
