// A look at the hardware by trainward-probe, or by a command of the operator's that prints the same
// report, in a child that may hang.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "common/base/error.hpp"
#include "hwprobe/report/report.hpp"
#include "supervisor/daemon/base/paths.hpp"
#include "supervisor/daemon/loop/child_process.hpp"
#include "supervisor/daemon/loop/loop.hpp"
#include "supervisor/evidence/foreign/substitute.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::daemon {

struct ProbeOrder {
  std::optional<std::filesystem::path> host;  // a described one; none: this machine's own boards
  // Run instead of trainward-probe, without a shell; it finds our programs at the end of its PATH.
  std::vector<foreign::Template> command;
  bool deep = false;     // also by tt-smi, of boards that nobody uses
  bool recorded = true;  // in the run database
};

// Looks are recorded in `store`, the failed ones too, unless the order says otherwise; then `done`
// is called, once. A command that exits with anything but 0 to 3, the codes of trainward-probe, has
// failed, whatever it printed.
std::unique_ptr<ChildProcess> probe_boards(Loop& loop, const Paths& paths, const ProbeOrder& order,
                                           store::Store& store,
                                           std::function<void(Result<hwprobe::Report>)> done);

}  // namespace trainward::daemon
