#include "hwprobe/stages/stage.hpp"

namespace trainward::hwprobe {

std::string_view to_string(Ending ending) {
  switch (ending) {
    case Ending::finished:
      return "finished";
    case Ending::failed:
      return "failed";
    case Ending::crashed:
      return "crashed";
    case Ending::bus_error:
      return "bus error";
    case Ending::deadline:
      return "deadline";
    case Ending::stuck_in_kernel:
      return "stuck in kernel";
    case Ending::locked:
      return "locked";
    case Ending::not_started:
      return "not started";
  }
  return "failed";
}

}  // namespace trainward::hwprobe
