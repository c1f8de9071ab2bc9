// Follows the kernel's log (/dev/kmsg) and reports what it says about the health of a run.
//
// One for the whole daemon; each program weighs the facts for its own worker (WorkerTraces). Lines
// that programs wrote into the log are ignored: anybody could have. Reading takes root or
// CAP_SYSLOG, or kernel.dmesg_restrict=0; without, the log is absent, with the reason.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"
#include "supervisor/evidence/host/kernel_fact.hpp"
#include "supervisor/evidence/host/kernel_record.hpp"

namespace trainward::host {

struct KernelNews {
  std::vector<KernelFact> facts;  // in the order of the log
  std::int64_t lost = 0;          // times the log had overtaken us
  bool more = false;              // the bound was reached: call again, after other work
};

// Not thread-safe. Never waits.
class KernelLog {
 public:
  // The log is followed from its present end. With `last_ms`, what is still kept of the last so
  // many milliseconds comes first: for a worker that ran while no daemon did.
  static Result<KernelLog> open(const std::filesystem::path& root,
                                std::optional<std::int64_t> last_ms = {});

  // Readable when there is more: call take() then.
  [[nodiscard]] int fd() const { return fd_.get(); }

  // At most 256 reads at a time, each of one record where it is the device.
  KernelNews take();

 private:
  KernelLog(Fd fd, std::int64_t since_usec) : fd_(std::move(fd)), since_usec_(since_usec) {}
  void judge(const KernelRecord& record, KernelNews& news) const;
  Fd fd_;
  std::int64_t since_usec_;
  KernelRecords records_;
};

}  // namespace trainward::host
