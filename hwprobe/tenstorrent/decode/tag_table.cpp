#include "hwprobe/tenstorrent/decode/tag_table.hpp"

#include <fmt/format.h>

#include "hwprobe/tenstorrent/registers/addresses.hpp"

namespace trainward::hwprobe {
namespace {

namespace wh = wormhole;

constexpr std::uint32_t most_entries = 256;

// `bytes` from `address` on lie in the management processor's memory.
bool in_csm(std::uint64_t address, std::uint64_t bytes) {
  return address % 4 == 0 && address >= wh::csm_begin &&
         address + bytes <= std::uint64_t{wh::csm_begin} + wh::csm_bytes;
}

tl::unexpected<Error> corrupt(std::string what) {
  return fail(ErrorKind::corrupt, std::move(what), "telemetry table");
}

}  // namespace

std::optional<std::uint32_t> TagTable::value(std::uint16_t tag) const {
  const auto found = values.find(tag);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

Result<std::uint32_t> read_csm(RegisterIo& registers, std::uint32_t address) {
  if (!in_csm(address, 4)) {
    return corrupt(fmt::format("{:#x} is not in the processor's memory", address));
  }
  return registers.bar32(address - wh::csm_begin + wh::bar::csm);
}

Result<std::optional<TagTable>> read_tag_table(RegisterIo& registers) {
  auto table_at = registers.bar32(wh::bar::telemetry_table);
  if (!table_at) return propagate(table_at);
  if (*table_at == 0) return std::optional<TagTable>();
  auto values_at = registers.bar32(wh::bar::telemetry_values);
  if (!values_at) return propagate(values_at);
  if (!in_csm(*table_at, 8) || !in_csm(*values_at, 4)) {
    return corrupt(
        fmt::format("the pointers {:#x} and {:#x} do not both point to the processor's "
                    "memory",
                    *table_at, *values_at));
  }
  auto version = read_csm(registers, *table_at);
  if (!version) return propagate(version);
  // Bits 23:16 are the major version; all ones is caught with it.
  if (((*version >> 16) & 0xFF) > 1) {
    return corrupt(fmt::format("version {:#x} is not known", *version));
  }
  auto count = read_csm(registers, *table_at + 4);
  if (!count) return propagate(count);
  if (*count > most_entries || !in_csm(*table_at, 8 + 4ULL * *count)) {
    return corrupt(fmt::format("{} entries are too many", *count));
  }

  TagTable table;
  table.version = *version;
  for (std::uint32_t i = 0; i < *count; ++i) {
    const auto entry = read_csm(registers, *table_at + 8 + 4 * i);
    if (!entry || *entry == wh::all_ones) continue;
    const std::uint64_t address = *values_at + 4ULL * (*entry >> 16);
    if (!in_csm(address, 4)) continue;
    const auto value = read_csm(registers, static_cast<std::uint32_t>(address));
    if (!value || *value == wh::all_ones) continue;
    const auto tag = static_cast<std::uint16_t>(*entry & 0xFFFF);
    table.values[tag] = *value;
    table.offsets[tag] = static_cast<std::uint32_t>(address) - wh::csm_begin + wh::bar::csm;
  }
  return std::optional(std::move(table));
}

}  // namespace trainward::hwprobe
