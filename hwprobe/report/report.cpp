#include "hwprobe/report/report.hpp"

namespace trainward::hwprobe {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "OK";
    case Verdict::busy:
      return "BUSY";
    case Verdict::unknown:
      return "UNKNOWN";
    case Verdict::degraded:
      return "DEGRADED";
    case Verdict::hot:
      return "HOT";
    case Verdict::resetting:
      return "RESETTING";
    case Verdict::remote_lost:
      return "REMOTE_LOST";
    case Verdict::dram_bad:
      return "DRAM_BAD";
    case Verdict::arc_dead:
      return "ARC_DEAD";
    case Verdict::noc_hung:
      return "NOC_HUNG";
    case Verdict::bus_hung:
      return "BUS_HUNG";
    case Verdict::stuck_in_kernel:
      return "STUCK_IN_KERNEL";
    case Verdict::off_bus:
      return "OFF_BUS";
    case Verdict::no_driver:
      return "NO_DRIVER";
    case Verdict::absent:
      return "ABSENT";
  }
  return "UNKNOWN";
}

bool usable(Verdict verdict) { return verdict == Verdict::ok || verdict == Verdict::degraded; }

}  // namespace trainward::hwprobe
