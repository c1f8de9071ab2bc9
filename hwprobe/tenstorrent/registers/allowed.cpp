#include "hwprobe/tenstorrent/registers/allowed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "hwprobe/tenstorrent/registers/addresses.hpp"

namespace trainward::hwprobe {
namespace {

namespace wh = wormhole;

constexpr std::array config_offsets{wh::config::ids, wh::config::command, wh::config::revision,
                                    wh::config::subsystem};
constexpr std::array bar_offsets{wh::bar::bus_check,       wh::bar::post_code,
                                 wh::bar::message_status,  wh::bar::scratch6,
                                 wh::bar::telemetry_table, wh::bar::telemetry_values};
constexpr std::array ethernet_offsets{
    wh::ethernet::heartbeat,         wh::ethernet::firmware,
    wh::ethernet::port_disable_mask, wh::ethernet::routing_off,
    wh::ethernet::train_status,      wh::ethernet::local_place,
    wh::ethernet::remote_place,      wh::ethernet::remote_rack,
    wh::ethernet::link_inactive,     wh::ethernet::link_status,
    wh::ethernet::retrains,          wh::ethernet::retrain_request,
    wh::ethernet::crc_errors,        wh::ethernet::pcs_faults,
    wh::ethernet::corrected_high,    wh::ethernet::corrected_low,
    wh::ethernet::uncorrected_high,  wh::ethernet::uncorrected_low,
    wh::ethernet::local_board_low,   wh::ethernet::local_board_high,
    wh::ethernet::local_board_type,  wh::ethernet::remote_board_low,
    wh::ethernet::remote_board_high, wh::ethernet::remote_channel,
    wh::ethernet::remote_board_type, wh::ethernet::soft_reset};

template <typename List>
bool lists(const List& list, std::uint64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool is_ethernet_tile(unsigned x, unsigned y) {
  return std::any_of(wh::ethernet_tiles.begin(), wh::ethernet_tiles.end(),
                     [&](const wh::Tile& tile) { return tile.x == x && tile.y == y; });
}

bool is_ethernet_address(std::uint64_t address) {
  const std::uint64_t connections = wh::ethernet::connection;
  const bool in_connections =
      address >= connections && address < connections + 4 * wh::ethernet_tiles.size();
  return (in_connections && address % 4 == 0) || lists(ethernet_offsets, address);
}

Status refuse(std::string where) {
  return fail(ErrorKind::usage, "not among the addresses that a probe may read", std::move(where));
}

}  // namespace

Status may_read_config(std::uint32_t offset) {
  if (lists(config_offsets, offset)) return {};
  return refuse(fmt::format("config {:#x}", offset));
}

Status may_read_bar(std::uint32_t offset) {
  const bool in_csm = offset >= wh::bar::csm && offset - wh::bar::csm < wh::csm_bytes;
  if ((in_csm && offset % 4 == 0) || lists(bar_offsets, offset)) return {};
  return refuse(fmt::format("bar {:#x}", offset));
}

Status may_read_noc(unsigned x, unsigned y, std::uint64_t address) {
  const bool check = x == wh::arc_tile.x && y == wh::arc_tile.y && address == wh::noc_check;
  if (check || (is_ethernet_tile(x, y) && is_ethernet_address(address))) return {};
  return refuse(fmt::format("noc {} {} {:#x}", x, y, address));
}

}  // namespace trainward::hwprobe
