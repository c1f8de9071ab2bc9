#include "hwprobe/tenstorrent/decode/arc.hpp"

#include "hwprobe/tenstorrent/registers/addresses.hpp"
#include "hwprobe/tenstorrent/registers/read_error.hpp"

namespace trainward::hwprobe {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds first_answer{1200};
constexpr milliseconds second_answer{1000};

std::optional<std::uint32_t> maybe(const Result<std::uint32_t>& word) {
  return word ? std::optional(*word) : std::nullopt;
}

void read_telemetry(RegisterIo& registers, ArcLook& look) {
  const auto table = read_tag_table(registers);
  if (!table) {
    look.telemetry_error = table.error().message();
  } else if (*table) {
    look.telemetry = decode_tags(**table);
  }
  if (!look.telemetry) look.telemetry = read_legacy_telemetry(registers);
}

void watch_heartbeat(RegisterIo& registers, ArcLook& look) {
  if (!look.telemetry || !look.telemetry->heartbeat) return;
  for (const milliseconds time : {first_answer, second_answer}) {
    if (!registers.wait(time)) return;
    const auto now = registers.bar32(look.telemetry->heartbeat_offset);
    if (!now || *now == wormhole::all_ones) return;
    if (*now != *look.telemetry->heartbeat) {
      look.heartbeat = Heartbeat::alive;
      return;
    }
  }
  look.heartbeat = Heartbeat::frozen;
}

// A hang makes everything else that was read meaningless.
ArcLook only_hang(const ArcLook& look, Hang hang) {
  ArcLook out;
  out.driver = look.driver;
  out.driver_error = look.driver_error;
  out.hang = hang;
  return out;
}

}  // namespace

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

ArcLook look_at_arc(RegisterIo& all_registers, bool watch_heart) {
  ArcLook look;
  if (auto info = all_registers.driver()) {
    look.driver = std::move(*info);
  } else if (info.error().kind != ErrorKind::usage) {
    look.driver_error = error_name(info.error());
  }
  if (const Hang hang = check_hang(all_registers); hang != Hang::none) {
    return only_hang(look, hang);
  }
  SuspectRegisters registers(all_registers);
  look.post_code = maybe(registers.bar32(wormhole::bar::post_code));
  const auto status = maybe(registers.bar32(wormhole::bar::message_status));
  look.state = arc_state(look.post_code, status);
  if (look.state == ArcState::running || look.state == ArcState::asleep) {
    read_telemetry(registers, look);
    if (watch_heart) watch_heartbeat(registers, look);
  }
  // It may have died while it was looked at.
  if (registers.suspect()) {
    if (const Hang hang = check_hang(all_registers); hang != Hang::none) {
      return only_hang(look, hang);
    }
  }
  return look;
}

}  // namespace trainward::hwprobe
