#include <fmt/format.h>

#include "hwprobe/accelerators/accelerators.hpp"
#include "hwprobe/tenstorrent/look/host_look.hpp"
#include "hwprobe/tenstorrent/look/register_stages.hpp"
#include "hwprobe/tenstorrent/tt_smi/deep_look.hpp"
#include "hwprobe/tenstorrent/tt_smi/tt_smi.hpp"

namespace trainward::hwprobe {
namespace {

std::vector<BoardLook> look_at_boards(const LookOptions& options, Processes& processes) {
  HostOptions host;
  host.root = options.root;
  host.state = options.state;
  host.simulator = options.simulator;
  const auto stages = probe_stages(host);
  auto looks = look_at_host(host, stages, processes);
  if (options.deep) looks.push_back(look_through_tt_smi(looks, stages, host, processes));
  return looks;
}

Result<Report> judge_boards(const std::vector<BoardLook>& looks, const std::string& source) {
  auto report = report_of(looks, probe_stages({}), source);
  if (report) add_tt_smi(looks, *report);
  return report;
}

void remember_boards(const std::vector<BoardLook>& looks, const std::filesystem::path& state) {
  (void)remember_counters(looks, probe_stages({}), state);
}

// What the driver publishes of a working board beyond what hwmon and the AER counters say: clock
// and heartbeat; nothing for a device of another driver. Opens no device.
void add_to_sample(Files& files, const std::string& bus_id, Sample& sample) {
  const std::string folder = fmt::format("/sys/bus/pci/devices/{}/tenstorrent", bus_id);
  const auto nodes = files.names(folder);
  if (!nodes || nodes->empty()) return;
  const std::string node = fmt::format("{}/{}", folder, nodes->front());
  sample.clock_mhz = files.number(node + "/tt_aiclk");
  sample.heartbeat = files.number(node + "/tt_heartbeat");
}

}  // namespace

Accelerator tenstorrent() {
  Accelerator boards;
  boards.name = "tenstorrent";
  boards.look = look_at_boards;
  boards.judge = judge_boards;
  boards.remember = remember_boards;
  boards.printed = {"--tt-smi", "what tt-smi -s --snapshot_no_tty printed: a file, or -",
                    max_snapshot_bytes, read_tt_smi};
  boards.sample = add_to_sample;
  return boards;
}

}  // namespace trainward::hwprobe
