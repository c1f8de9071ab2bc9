#include "hwprobe/tenstorrent/decode/arc_state.hpp"

namespace trainward::hwprobe {

ArcState arc_state(std::optional<std::uint32_t> post_code,
                   std::optional<std::uint32_t> message_status) {
  constexpr std::uint32_t upper = 0xFFFF0000;
  constexpr std::uint32_t firmware_runs = 0xC0DE0000;
  constexpr std::uint32_t boot_rom = 0x11110000;
  constexpr std::uint32_t watchdog_fired = 0xDEADC0DE;
  constexpr std::uint32_t still_booting = 0x60;
  constexpr std::uint32_t sleep_message = 0xAA00;
  constexpr std::uint32_t asleep = 0x55;

  if (!post_code) return ArcState::unknown;
  if ((*post_code & upper) == boot_rom) return ArcState::booting;
  if ((*post_code & upper) != firmware_runs) return ArcState::no_firmware;
  if (!message_status) return ArcState::running;
  if (*message_status == watchdog_fired) return ArcState::watchdog;
  if (*message_status == still_booting) return ArcState::booting;
  if (*message_status == sleep_message || *message_status == asleep) return ArcState::asleep;
  return ArcState::running;
}

}  // namespace trainward::hwprobe
