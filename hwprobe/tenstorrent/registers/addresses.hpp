// Where a Wormhole board keeps what a probe may read. Numbers only.
//
// Sources: tt-isa-documentation (WormholeB0/ARCTile, EthernetTile), tt-umd
// (wormhole_implementation, erisc_firmware, wormhole_eth), tt-kmd (wormhole.c). Offsets are bytes;
// tiles are NOC0 coordinates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace trainward::hwprobe::wormhole {

inline constexpr std::uint32_t vendor_id = 0x1E52;
inline constexpr std::uint32_t device_id = 0x401E;
// What a read returns when nothing answers it.
inline constexpr std::uint32_t all_ones = 0xFFFFFFFF;

struct Tile {
  unsigned x = 0;
  unsigned y = 0;
};

inline constexpr Tile arc_tile{0, 10};
// Channel 0 to 15; these physical places work with coordinate translation on and off.
inline constexpr std::array<Tile, 16> ethernet_tiles{{{9, 0},
                                                      {1, 0},
                                                      {8, 0},
                                                      {2, 0},
                                                      {7, 0},
                                                      {3, 0},
                                                      {6, 0},
                                                      {4, 0},
                                                      {9, 6},
                                                      {1, 6},
                                                      {8, 6},
                                                      {2, 6},
                                                      {7, 6},
                                                      {3, 6},
                                                      {6, 6},
                                                      {4, 6}}};
// On an N300 these two channels of chip L are traces to channels 0 and 1 of chip R.
inline constexpr std::array<unsigned, 2> on_board_channels{8, 9};

namespace config {
inline constexpr std::uint32_t ids = 0x00;  // vendor in the low half
inline constexpr std::uint32_t command = 0x04;
inline constexpr std::uint32_t revision = 0x08;
inline constexpr std::uint32_t subsystem = 0x2C;
}  // namespace config

// BAR0 of chip L, the part that reaches the ARC tile without the NOC.
namespace bar {
inline constexpr std::uint32_t window_begin = 0x1FD00000;  // mapped as one piece
inline constexpr std::uint32_t window_bytes = 0x00300000;
inline constexpr std::uint32_t csm = 0x1FE80000;  // the management processor's memory
inline constexpr std::uint32_t bus_check = 0x1FF5002C;
inline constexpr std::uint32_t reset_unit = 0x1FF30000;
inline constexpr std::uint32_t post_code = reset_unit + 0x60;
inline constexpr std::uint32_t message_status = reset_unit + 0x74;
inline constexpr std::uint32_t scratch6 = reset_unit + 0x78;
inline constexpr std::uint32_t telemetry_table = reset_unit + 0x1D0;   // holds a pointer
inline constexpr std::uint32_t telemetry_values = reset_unit + 0x1D4;  // holds a pointer
}  // namespace bar

// The same memory as the management processor addresses it: pointers are of this kind.
inline constexpr std::uint32_t csm_begin = 0x10000000;
inline constexpr std::uint32_t csm_bytes = 0x00080000;
inline constexpr std::uint32_t legacy_telemetry = csm_begin + 0x78D60;

// Answers as long as NOC0 does; read at the ARC tile.
inline constexpr std::uint64_t noc_check = 0xFFFB2002C;

// Memory of an Ethernet core, base firmware 6.14 and newer.
namespace ethernet {
inline constexpr std::uint32_t heartbeat = 0x1C;
inline constexpr std::uint32_t firmware = 0x210;
inline constexpr std::uint32_t port_disable_mask = 0x1008;
inline constexpr std::uint32_t routing_off = 0x104C;
inline constexpr std::uint32_t train_status = 0x1104;
inline constexpr std::uint32_t local_place = 0x1108;
inline constexpr std::uint32_t remote_place = 0x1124;
inline constexpr std::uint32_t remote_rack = 0x1128;
inline constexpr std::uint32_t connection = 0x1200;  // + 4 * channel
inline constexpr std::uint32_t link_inactive = 0x1440;
inline constexpr std::uint32_t link_status = 0x1ED4;
inline constexpr std::uint32_t retrains = 0x1EDC;
inline constexpr std::uint32_t retrain_request = 0x1EFC;
inline constexpr std::uint32_t crc_errors = 0x1F7C;
inline constexpr std::uint32_t pcs_faults = 0x1F84;
inline constexpr std::uint32_t corrected_high = 0x1F90;
inline constexpr std::uint32_t corrected_low = 0x1F94;
inline constexpr std::uint32_t uncorrected_high = 0x1F98;
inline constexpr std::uint32_t uncorrected_low = 0x1F9C;
inline constexpr std::uint32_t local_board_low = 0x1FC0;
inline constexpr std::uint32_t local_board_high = 0x1FC4;
inline constexpr std::uint32_t local_board_type = 0x1FD4;
inline constexpr std::uint32_t remote_board_low = 0x1FE0;
inline constexpr std::uint32_t remote_board_high = 0x1FE4;
inline constexpr std::uint32_t remote_channel = 0x1FF0;
inline constexpr std::uint32_t remote_board_type = 0x1FF4;
inline constexpr std::uint32_t soft_reset = 0xFFB121B0;  // a register, not memory
}  // namespace ethernet

}  // namespace trainward::hwprobe::wormhole
