#include "hwprobe/tenstorrent/decode/telemetry.hpp"

#include "hwprobe/tenstorrent/decode/sensor_values.hpp"
#include "hwprobe/tenstorrent/decode/versions.hpp"

namespace trainward::hwprobe {
namespace {

// The tags that are used; firmware publishes some sixty.
namespace tag {
constexpr std::uint16_t board_id_high = 1;
constexpr std::uint16_t board_id_low = 2;
constexpr std::uint16_t core_voltage = 6;
constexpr std::uint16_t power = 7;
constexpr std::uint16_t current = 8;
constexpr std::uint16_t shutdown_limit = 10;
constexpr std::uint16_t temperature = 11;
constexpr std::uint16_t board_temperature = 13;
constexpr std::uint16_t clock = 14;
constexpr std::uint16_t ethernet_live = 21;
constexpr std::uint16_t dram_status = 22;
constexpr std::uint16_t ethernet_firmware = 24;
constexpr std::uint16_t bundle = 28;
constexpr std::uint16_t heartbeat = 32;
constexpr std::uint16_t fan_rpm = 41;
constexpr std::uint16_t location = 52;
constexpr std::uint16_t throttle_limit = 56;
constexpr std::uint16_t asic_id_high = 61;
constexpr std::uint16_t asic_id_low = 62;
}  // namespace tag

std::optional<std::uint64_t> joined(const TagTable& table, std::uint16_t high, std::uint16_t low) {
  const auto upper = table.value(high);
  const auto lower = table.value(low);
  if (!upper || !lower) return std::nullopt;
  const std::uint64_t id = (std::uint64_t{*upper} << 32) | *lower;
  return id == 0 ? std::nullopt : std::optional(id);
}

// Two bits a channel.
std::vector<DramState> dram_of(std::uint32_t word) {
  std::vector<DramState> channels;
  for (unsigned i = 0; i < dram_channels; ++i) {
    const std::uint32_t bits = (word >> (2 * i)) & 3;
    channels.push_back(bits == 1   ? DramState::good
                       : bits == 0 ? DramState::untrained
                                   : DramState::failed);
  }
  return channels;
}

}  // namespace

Telemetry decode_tags(const TagTable& table) {
  Telemetry out;
  const auto number = [&](std::uint16_t tag) -> std::optional<double> {
    const auto value = table.value(tag);
    return value ? std::optional<double>(*value) : std::nullopt;
  };
  out.board_id = joined(table, tag::board_id_high, tag::board_id_low);
  out.asic_id = joined(table, tag::asic_id_high, tag::asic_id_low);
  out.location = table.value(tag::location);
  if (const auto word = table.value(tag::bundle)) {
    if (const auto version = Version::of_bundle(*word)) out.firmware = version->text();
  }
  if (const auto word = table.value(tag::ethernet_firmware)) {
    if (const auto version = Version::of_ethernet(*word)) out.ethernet_firmware = version->text();
  }
  if (const auto word = table.value(tag::temperature)) {
    out.temperature_c = temperature(fixed_point(*word));
  }
  if (const auto word = table.value(tag::board_temperature)) {
    out.board_temperature_c = temperature(fixed_point(*word));
  }
  out.throttle_c = limit(number(tag::throttle_limit));
  out.shutdown_c = limit(number(tag::shutdown_limit));
  if (const auto millivolts = number(tag::core_voltage)) out.core_v = *millivolts / 1000;
  out.power_w = number(tag::power);
  out.current_a = number(tag::current);
  out.clock_mhz = table.value(tag::clock);
  out.fan_rpm = table.value(tag::fan_rpm);
  if (const auto word = table.value(tag::dram_status)) out.dram = dram_of(*word);
  // The upper half means different things in different versions.
  if (const auto word = table.value(tag::ethernet_live)) out.ethernet_alive = *word & 0xFFFF;
  if (const auto beat = table.value(tag::heartbeat)) {
    out.heartbeat = beat;
    out.heartbeat_offset = table.offsets.at(tag::heartbeat);
  }
  return out;
}

}  // namespace trainward::hwprobe
