// What the probe needs to know about a kind of accelerator. Each vendor gives one such value, from
// a folder of its own (tenstorrent/, nvidia/); the list is accelerators.cpp.
//
//   look (children with deadlines) ──> BoardLook of each board ──> judge (pure) ──> Report
//                                             └──> a recording ──┘
//   printed: what another program said of such boards ──────────────────────────> Report
//
// Every part is optional: a vendor may have no more than the output of its own program.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "hwprobe/report/report.hpp"
#include "hwprobe/stages/processes.hpp"
#include "hwprobe/stages/stage.hpp"
#include "hwprobe/watch/watch_stream.hpp"

namespace trainward::hwprobe {

struct LookOptions {
  std::filesystem::path root = "/";  // or a fake tree
  std::filesystem::path state;       // locks and memory of the stages
  std::filesystem::path simulator;   // its library, instead of this host's boards; or empty
  bool deep = false;                 // also ask what may only be asked of unused boards
};

// The output of another program about such boards, a file or standard input.
struct PrintedReport {
  std::string option;  // "--nvidia"; may be empty
  std::string help;
  std::size_t max_bytes = 0;
  // `where` names the input in errors.
  Result<Report> (*read)(std::string_view text, std::string_view where) = nullptr;
};

struct Accelerator {
  std::string name;
  // What the names of its looks begin with, in recordings too: "toy:". One vendor has none.
  std::string prefix;

  // Finds its boards on this host and reads from each, in stages. Never hangs.
  std::function<std::vector<BoardLook>(const LookOptions&, Processes&)> look;
  // What its looks say, live or recorded: boards with verdicts, and evidence about the host. Pure.
  // An error: nothing can be said. `source` is what the report names as its own.
  std::function<Result<Report>(const std::vector<BoardLook>&, const std::string& source)> judge;
  // Keeps what a later look compares with. It does without where nothing can be kept.
  std::function<void(const std::vector<BoardLook>&, const std::filesystem::path& state)> remember;

  PrintedReport printed;

  // Adds to a sample what its boards measure beyond what any PCI device may have.
  std::function<void(Files&, const std::string& bus_id, Sample&)> sample;
};

// Of all that can look: one after the other.
std::vector<BoardLook> look_at_host(std::span<const Accelerator> all, const LookOptions& options,
                                    Processes& processes);

// One report of all looks. Evidence about a host where one kind has found no board is left out when
// another has; an error only where no kind has found a board and one could not tell.
Result<Report> judge_looks(std::span<const Accelerator> all, const std::vector<BoardLook>& looks,
                           const std::string& source);

void remember_looks(std::span<const Accelerator> all, const std::vector<BoardLook>& looks,
                    const std::filesystem::path& state);

// Samples of boards of this host, by their PCI addresses. Kind usage for an unknown name.
Result<std::vector<Sampler>> samplers(std::span<const Accelerator> all,
                                      const std::filesystem::path& root,
                                      const std::vector<std::string>& boards);

}  // namespace trainward::hwprobe
