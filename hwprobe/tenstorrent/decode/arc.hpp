// A look at chip L's management processor: does it run, and what does it say? (Stage C.)
//
// In: registers. Out: everything that could be read, also when the look was cut short. Takes 1.2 s,
// or 2.2 s when the heartbeat stands still: a processor is called dead only after two seconds of
// it. Works the same over a card, a simulator and the recording of either.
#pragma once

#include <optional>
#include <string>

#include "hwprobe/tenstorrent/decode/facts.hpp"
#include "hwprobe/tenstorrent/decode/hang_check.hpp"
#include "hwprobe/tenstorrent/decode/telemetry.hpp"

namespace trainward::hwprobe {

struct ArcLook {
  std::optional<DriverInfo> driver;
  std::string driver_error;  // "ENODEV"; empty when the driver answered or was not asked
  Hang hang = Hang::none;
  std::optional<std::uint32_t> post_code;
  ArcState state = ArcState::unknown;
  std::optional<Telemetry> telemetry;
  std::string telemetry_error;  // why telemetry is missing; may be empty
  Heartbeat heartbeat = Heartbeat::unknown;
};

// What the processor is doing, by its post code (SCRATCH0) and its message status (SCRATCH5), as
// far as they could be read. Sources: tt-kmd (the post code alone), tt-umd wait_arc_core_start,
// luwen check_arc_msg_safe.
ArcState arc_state(std::optional<std::uint32_t> post_code,
                   std::optional<std::uint32_t> message_status);

// `watch_heart`: false if it was already watched elsewhere, which saves the time.
ArcLook look_at_arc(RegisterIo& registers, bool watch_heart = true);

}  // namespace trainward::hwprobe
