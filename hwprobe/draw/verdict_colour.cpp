#include "hwprobe/draw/verdict_colour.hpp"

namespace trainward::hwprobe {

Colour colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return Colour::green;
    case Verdict::busy:
    case Verdict::unknown:
    case Verdict::degraded:
    case Verdict::resetting:
      return Colour::yellow;
    case Verdict::hot:
    case Verdict::remote_lost:
    case Verdict::dram_bad:
    case Verdict::arc_dead:
    case Verdict::noc_hung:
    case Verdict::bus_hung:
    case Verdict::stuck_in_kernel:
    case Verdict::off_bus:
    case Verdict::no_driver:
    case Verdict::absent:
      return Colour::red;
  }
  return Colour::red;
}

}  // namespace trainward::hwprobe
