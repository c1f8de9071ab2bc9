#include "hwprobe/accelerators.hpp"
#include "hwprobe/tenstorrent/host_look.hpp"
#include "hwprobe/tenstorrent/register_stages.hpp"
#include "hwprobe/tenstorrent/samples.hpp"
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
