// A stage of the look at a board, and what its readings say.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hwprobe/stages/live_files.hpp"
#include "hwprobe/stages/remark.hpp"
#include "hwprobe/stages/run_stages.hpp"
#include "hwprobe/tenstorrent/decode/arc.hpp"
#include "hwprobe/tenstorrent/decode/baselines.hpp"
#include "hwprobe/tenstorrent/decode/facts.hpp"
#include "hwprobe/tenstorrent/registers/kmd_calls.hpp"

namespace trainward::hwprobe {

// All that the stages of a board have said so far.
struct Interpretation {
  BoardFacts facts;
  std::vector<Remark> remarks;
  ArcLook arc;                        // what the management processor said
  std::optional<Baselines> counters;  // of the links, with what was read now
};

// `interpret` adds what the result says; pure, since it is also given recordings. New ways of
// looking are a line in probe_stages().
struct ProbeStage {
  using Interpret = std::function<void(const StageResult&, Interpretation&)>;
  Stage stage;
  Interpret interpret;
};

struct HostOptions {
  std::filesystem::path root = "/";     // or a fake tree
  std::filesystem::path state;          // locks and memory of the stages
  std::filesystem::path simulator;      // its library, instead of this host's boards; or empty
  LiveFiles::Wait wait;                 // empty: sleep
  std::shared_ptr<KmdCalls> kmd_calls;  // empty: those of the system
  RunLimits limits;
};

// What the stages of one board say, those that ran. A recording may have stages of a newer program:
// they are left out.
Interpretation interpret(const std::string& board, std::span<const StageResult> results,
                         std::span<const ProbeStage> stages);

}  // namespace trainward::hwprobe
