// Records of the kernel's log as /dev/kmsg gives them:
//
//   6,1234,98765432,-;tenstorrent 0000:c1:00.0: Device is unresponsive, cannot reset.
//    SUBSYSTEM=pci
//    DEVICE=+pci:0000:c1:00.0
//
// priority (facility * 8 + level), sequence number, microseconds since boot, flags; the text; then
// lines that begin with a space and belong to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::host {

struct KernelRecord {
  int priority = 0;
  std::uint64_t sequence = 0;
  std::int64_t usec = 0;
  std::string text;
  std::string device;  // "0000:c1:00.0", when the driver named a PCI device
  friend bool operator==(const KernelRecord&, const KernelRecord&) = default;
};

// Written by the kernel itself and not by a program: only the kernel can have facility 0.
inline bool from_kernel(const KernelRecord& record) { return record.priority >> 3 == 0; }

// Cuts what was read into records. Pieces may end anywhere; a line longer than 8 KiB and lines that
// are no record are dropped.
class KernelRecords {
 public:
  // The records that ended within this piece: a record ends where the next begins.
  std::vector<KernelRecord> take(std::string_view piece);
  // The record whose end was not seen yet, once nothing more is there to read.
  std::optional<KernelRecord> finish();

 private:
  void take_line_of(std::string_view line, std::vector<KernelRecord>& done);
  std::string rest_;                    // begun, its end not yet read
  bool skipping_ = false;               // within a line that was too long
  std::optional<KernelRecord> record_;  // its further lines may follow
};

}  // namespace trainward::host
