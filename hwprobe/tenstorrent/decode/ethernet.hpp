// A look at Ethernet cores of chip L, and what their memory says of the link each serves. (Stage
// D.)
//
// In: registers of a board that passed the hang check; channels 8 and 9 are the traces to chip R of
// an N300. Out: what could be read of each. The cores are read twice, 100 ms apart, for their
// heartbeats. It proves that the other chip's Ethernet cores live, not more.
// Sources: tt-umd (erisc_firmware, wormhole_eth, topology discovery), luwen, tt-metal's triage
// tool.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hwprobe/tenstorrent/decode/hang_check.hpp"

namespace trainward::hwprobe {

struct EthernetChannel {
  using Word = std::optional<std::uint32_t>;

  unsigned channel = 0;
  Word heartbeat;
  Word later_heartbeat;
  Word firmware;
  Word port_disable_mask;
  Word routing_off;
  Word train_status;
  Word link_inactive;  // why a link is not up, by number
  Word connection;
  Word link_status;
  Word retrain_request;
  Word soft_reset;
  Word local_board_low, local_board_high, local_board_type;
  Word remote_board_low, remote_board_high, remote_channel, remote_board_type;
  Word remote_place, remote_rack;
  // Counters since the core's firmware started.
  Word retrains;
  Word crc_errors;
  Word pcs_faults;
  std::optional<std::uint64_t> corrected;
  std::optional<std::uint64_t> uncorrected;
};

struct EthernetLook {
  Hang hang = Hang::none;
  std::vector<EthernetChannel> channels;
};

EthernetLook look_at_ethernet(RegisterIo& registers, std::span<const unsigned> channels);

enum class EthernetState { unknown, up, training, down };

struct LinkJudgement {
  EthernetState state = EthernetState::unknown;
  std::string why;  // it is not up, in words
};

// An on-board link. `board_id`, when it is known, must be at the other end as well.
LinkJudgement judge_on_board_link(const EthernetChannel& channel,
                                  std::optional<std::uint64_t> board_id);

// The number in link_inactive, in words; empty for 0 and what is not known.
std::string link_inactive_text(std::uint32_t reason);

}  // namespace trainward::hwprobe
