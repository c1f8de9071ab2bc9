// The boards of this host, or of a recording, through the stages; and the report that follows.
//
//   look (children, may be killed) ──> BoardLook of each board ──> report_of (pure)
//                                           └──> a recording ──┘
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "hwprobe/facts.hpp"
#include "hwprobe/report.hpp"
#include "hwprobe/stages/live_files.hpp"
#include "hwprobe/stages/remark.hpp"
#include "hwprobe/stages/run_stages.hpp"

namespace trainward::hwprobe {

// A stage and what its readings say. `interpret` adds to the facts; pure, since it is also given
// recordings. New ways of looking are a line in probe_stages().
struct ProbeStage {
  using Interpret = std::function<void(const StageResult&, const std::string& board,
                                       BoardFacts& facts, std::vector<Remark>& remarks)>;
  Stage stage;
  Interpret interpret;
};

struct HostOptions {
  std::filesystem::path root = "/";  // or a fake tree
  std::filesystem::path state;       // locks and memory of the stages
  bool deep = false;                 // also stages that need an idle board
  LiveFiles::Wait wait;              // empty: sleep
  RunLimits limits;
};

// The stages of a board, in their order.
std::vector<ProbeStage> probe_stages(const HostOptions& options);

// The bus first, as the board "bus", then every board found on it.
std::vector<BoardLook> look_at_host(const HostOptions& options,
                                    const std::vector<ProbeStage>& stages, Processes& processes);

// `source` is what the report names as its source. An error: not even the bus could be listed.
Result<Report> report_of(const std::vector<BoardLook>& looks, const std::vector<ProbeStage>& stages,
                         std::string source);

}  // namespace trainward::hwprobe
