#include "hwprobe/tenstorrent/decode/ethernet.hpp"

#include <chrono>

#include "hwprobe/tenstorrent/registers/addresses.hpp"

namespace trainward::hwprobe {
namespace {

namespace wh = wormhole;
namespace at = wormhole::ethernet;

// The firmware beats every few milliseconds.
constexpr std::chrono::milliseconds between_beats{150};

class Core {
 public:
  Core(RegisterIo& registers, unsigned channel)
      : registers_(registers), tile_(wh::ethernet_tiles.at(channel)) {}

  // All ones is no word that this firmware keeps anywhere.
  [[nodiscard]] std::optional<std::uint32_t> word(std::uint32_t address) const {
    const auto word = registers_.noc32(tile_.x, tile_.y, address);
    if (!word || *word == wh::all_ones) return std::nullopt;
    return *word;
  }
  [[nodiscard]] std::optional<std::uint64_t> wide(std::uint32_t high, std::uint32_t low) const {
    const auto upper = word(high);
    const auto lower = word(low);
    if (!upper || !lower) return std::nullopt;
    return (std::uint64_t{*upper} << 32) | *lower;
  }

 private:
  RegisterIo& registers_;
  wh::Tile tile_;
};

void read(const Core& core, EthernetChannel& channel) {
  channel.firmware = core.word(at::firmware);
  channel.port_disable_mask = core.word(at::port_disable_mask);
  channel.routing_off = core.word(at::routing_off);
  channel.train_status = core.word(at::train_status);
  channel.link_inactive = core.word(at::link_inactive);
  channel.connection = core.word(at::connection + 4 * channel.channel);
  channel.link_status = core.word(at::link_status);
  channel.retrain_request = core.word(at::retrain_request);
  channel.soft_reset = core.word(at::soft_reset);
  channel.local_board_low = core.word(at::local_board_low);
  channel.local_board_high = core.word(at::local_board_high);
  channel.local_board_type = core.word(at::local_board_type);
  channel.remote_board_low = core.word(at::remote_board_low);
  channel.remote_board_high = core.word(at::remote_board_high);
  channel.remote_channel = core.word(at::remote_channel);
  channel.remote_board_type = core.word(at::remote_board_type);
  channel.remote_place = core.word(at::remote_place);
  channel.remote_rack = core.word(at::remote_rack);
  channel.retrains = core.word(at::retrains);
  channel.crc_errors = core.word(at::crc_errors);
  channel.pcs_faults = core.word(at::pcs_faults);
  channel.corrected = core.wide(at::corrected_high, at::corrected_low);
  channel.uncorrected = core.wide(at::uncorrected_high, at::uncorrected_low);
}

}  // namespace

EthernetLook look_at_ethernet(RegisterIo& all_registers, std::span<const unsigned> channels) {
  EthernetLook look;
  SuspectRegisters registers(all_registers);
  // Many words of a dead network would take the better part of a second each.
  const auto dead = [&] {
    if (!registers.suspect()) return false;
    look.hang = check_hang(all_registers);
    if (look.hang != Hang::none) look.channels.clear();
    registers.trust_again();
    return look.hang != Hang::none;
  };
  for (const unsigned number : channels) {
    if (number >= wh::ethernet_tiles.size()) continue;
    const Core core(registers, number);
    EthernetChannel& channel = look.channels.emplace_back();
    channel.channel = number;
    channel.heartbeat = core.word(at::heartbeat);
    if (dead()) return look;
    read(core, channel);
    if (dead()) return look;
  }
  if (!registers.wait(between_beats)) return look;
  for (EthernetChannel& channel : look.channels) {
    channel.later_heartbeat = Core(registers, channel.channel).word(at::heartbeat);
  }
  dead();
  return look;
}

}  // namespace trainward::hwprobe
