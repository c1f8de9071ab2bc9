// The fixed array of words that firmware up to bundle 18.3 keeps its telemetry in.
#include <array>

#include "hwprobe/tenstorrent/decode/sensor_values.hpp"
#include "hwprobe/tenstorrent/decode/telemetry.hpp"
#include "hwprobe/tenstorrent/decode/versions.hpp"
#include "hwprobe/tenstorrent/registers/addresses.hpp"

namespace trainward::hwprobe {
namespace {

namespace wh = wormhole;

constexpr std::uint32_t valid_mark = 0xBA5E0001;
constexpr std::size_t words = 50;

namespace legacy_at {
constexpr std::size_t mark = 0;
constexpr std::size_t board_id_high = 4;
constexpr std::size_t board_id_low = 5;
constexpr std::size_t ethernet_firmware = 11;
constexpr std::size_t dram_status = 14;
constexpr std::size_t health = 19;
constexpr std::size_t clock = 24;
constexpr std::size_t core_voltage = 28;
constexpr std::size_t temperature = 29;
constexpr std::size_t board_temperature = 31;
constexpr std::size_t power = 32;
constexpr std::size_t current = 33;
constexpr std::size_t thermal_limits = 35;
constexpr std::size_t ethernet_live = 48;
constexpr std::size_t bundle = 49;
}  // namespace legacy_at

// A word that was not read, was never set or is no answer is absent.
using Words = std::array<std::optional<std::uint32_t>, words>;

std::optional<double> low_half(std::optional<std::uint32_t> word) {
  return word ? std::optional<double>(*word & 0xFFFF) : std::nullopt;
}

std::optional<double> high_half(std::optional<std::uint32_t> word) {
  return word ? std::optional<double>(*word >> 16) : std::nullopt;
}

// Four bits a channel: 2 passed, 1 failed, 3 skipped, 0 nothing was done.
std::vector<DramState> dram_by_nibbles(std::uint32_t word) {
  std::vector<DramState> channels;
  for (unsigned i = 0; i < dram_channels; ++i) {
    const std::uint32_t bits = (word >> (4 * i)) & 0xF;
    channels.push_back(bits == 2                ? DramState::good
                       : bits == 0 || bits == 3 ? DramState::untrained
                                                : DramState::failed);
  }
  return channels;
}

Telemetry decode(const Words& array) {
  Telemetry out;
  out.source = Telemetry::Source::array;
  if (array[legacy_at::board_id_high] && array[legacy_at::board_id_low]) {
    out.board_id =
        (std::uint64_t{*array[legacy_at::board_id_high]} << 32) | *array[legacy_at::board_id_low];
  }
  if (const auto word = array[legacy_at::bundle]) out.firmware = Version::of_bundle(*word)->text();
  if (const auto word = array[legacy_at::ethernet_firmware]) {
    out.ethernet_firmware = Version::of_ethernet(*word)->text();
  }
  if (const auto sixteenths = low_half(array[legacy_at::temperature])) {
    out.temperature_c = temperature(*sixteenths / 16);
  }
  if (const auto word = array[legacy_at::board_temperature]) {
    out.board_temperature_c = temperature(fixed_point(*word));
  }
  out.throttle_c = limit(low_half(array[legacy_at::thermal_limits]));
  out.shutdown_c = limit(high_half(array[legacy_at::thermal_limits]));
  if (const auto millivolts = array[legacy_at::core_voltage]) out.core_v = *millivolts / 1000.0;
  out.power_w = low_half(array[legacy_at::power]);
  out.current_a = low_half(array[legacy_at::current]);
  if (const auto word = array[legacy_at::clock]) out.clock_mhz = *word & 0xFFFF;
  if (const auto word = array[legacy_at::dram_status]) out.dram = dram_by_nibbles(*word);
  if (const auto word = array[legacy_at::ethernet_live]) out.ethernet_alive = *word & 0xFFFF;
  out.heartbeat = array[legacy_at::health];
  out.heartbeat_offset =
      wh::legacy_telemetry + 4 * legacy_at::health - wh::csm_begin + wh::bar::csm;
  return out;
}

}  // namespace

std::optional<Telemetry> read_legacy_telemetry(RegisterIo& registers) {
  const auto mark = read_csm(registers, wh::legacy_telemetry + 4 * legacy_at::mark);
  if (!mark || *mark != valid_mark) return std::nullopt;
  Words array;
  for (std::uint32_t i = 1; i < words; ++i) {
    const auto word = read_csm(registers, wh::legacy_telemetry + 4 * i);
    if (word && *word != 0 && *word != wh::all_ones) array[i] = *word;
  }
  return decode(array);
}

}  // namespace trainward::hwprobe
