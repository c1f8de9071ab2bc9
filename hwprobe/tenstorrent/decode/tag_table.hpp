// The table in which newer firmware (bundle 18.4 on) publishes its telemetry: numbers by tag.
//
// In: registers of a chip that passed the hang check. Out: every tag whose value could be read and
// was not all ones (which nothing answers with); nothing when no table is published. Errors:
// corrupt for pointers outside of the processor's memory, a table longer than 256 entries or of a
// version that is not known; otherwise what reading the pointers or the table gave. Source: tt-umd
// arc_telemetry_reader, tt-kmd wormhole.c; the meaning of tags: telemetry.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "hwprobe/tenstorrent/registers/register_io.hpp"

namespace trainward::hwprobe {

struct TagTable {
  std::uint32_t version = 0;
  std::map<std::uint16_t, std::uint32_t> values;
  std::map<std::uint16_t, std::uint32_t> offsets;  // in BAR0, to read one again

  [[nodiscard]] std::optional<std::uint32_t> value(std::uint16_t tag) const;
};

Result<std::optional<TagTable>> read_tag_table(RegisterIo& registers);

// A word of the management processor's memory by the address that processor has for it.
Result<std::uint32_t> read_csm(RegisterIo& registers, std::uint32_t address);

}  // namespace trainward::hwprobe
