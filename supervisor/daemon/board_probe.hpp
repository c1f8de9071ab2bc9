// A look at the hardware by trainward-probe, in a child that may hang.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "common/error.hpp"
#include "hwprobe/report.hpp"
#include "supervisor/daemon/child_process.hpp"
#include "supervisor/daemon/loop.hpp"
#include "supervisor/daemon/paths.hpp"
#include "supervisor/store/store.hpp"

namespace trainward::daemon {

struct ProbeHow {
  bool deep = false;     // also by tt-smi, of boards that nobody uses
  bool recorded = true;  // in the run database
};

// `host`: a described host file, or none for this machine's own boards. Every look is recorded in
// `store`, the failed ones too, unless `how` says otherwise; then `done` is called, once.
std::unique_ptr<ChildProcess> probe_boards(Loop& loop, const Paths& paths,
                                           const std::optional<std::filesystem::path>& host,
                                           store::Store& store,
                                           std::function<void(Result<hwprobe::Report>)> done,
                                           const ProbeHow& how = {});

}  // namespace trainward::daemon
