// What a chip says of itself, from the tag table or from the older fixed array, in units.
//
// Everything is optional: firmware publishes what it has, and an absent reading is never a fault.
// Readings that cannot be (a temperature of 5000 °C, a limit of 0) are absent too.
// Sources: tt-umd types/telemetry.hpp and wormhole_telemetry.hpp; limits as tt-smi shows them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hwprobe/tenstorrent/decode/facts.hpp"
#include "hwprobe/tenstorrent/decode/tag_table.hpp"

namespace trainward::hwprobe {

struct Telemetry {
  enum class Source { tags, array };
  Source source = Source::tags;

  std::optional<std::uint64_t> board_id;
  std::optional<std::uint64_t> asic_id;
  std::optional<std::uint32_t> location;  // 0: chip L, 1: chip R
  std::string firmware;                   // bundle, "19.7.1.0"; empty: not told
  std::string ethernet_firmware;          // "6.14.0"
  std::optional<double> temperature_c;
  std::optional<double> board_temperature_c;
  std::optional<double> throttle_c;  // from here on it runs slower
  std::optional<double> shutdown_c;
  std::optional<double> core_v;
  std::optional<double> power_w;
  std::optional<double> current_a;
  std::optional<std::uint32_t> clock_mhz;
  std::optional<std::uint32_t> fan_rpm;
  std::vector<DramState> dram;  // a channel each; empty: not told
  // Ethernet channels whose firmware the management processor sees alive, a bit each.
  std::optional<std::uint32_t> ethernet_alive;
  // A counter that moves while the management processor lives, and where in BAR0 it is.
  std::optional<std::uint32_t> heartbeat;
  std::uint32_t heartbeat_offset = 0;
};

Telemetry decode_tags(const TagTable& table);

// The fixed array of bundles up to 18.3. Nothing when it is not there.
std::optional<Telemetry> read_legacy_telemetry(RegisterIo& registers);

}  // namespace trainward::hwprobe
