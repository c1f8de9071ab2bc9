#include "hwprobe/tenstorrent/decode/board_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "hwprobe/tenstorrent/decode/board_id.hpp"
#include "hwprobe/tenstorrent/decode/versions.hpp"

namespace trainward::hwprobe {
namespace {

constexpr std::string_view whole_chip = "kernel attributes and registers";
constexpr std::string_view registers_only = "registers";
constexpr std::string_view link_level = "link level only";
constexpr std::uint32_t n300_left = 2;  // board type as Ethernet cores have it

ChipFacts& chip(BoardFacts& facts, std::string_view id) {
  const auto found = std::find_if(facts.chips.begin(), facts.chips.end(),
                                  [&](const ChipFacts& chip) { return chip.id == id; });
  if (found != facts.chips.end()) return *found;
  ChipFacts made;
  made.id = id;
  made.confidence = "not read";
  facts.chips.push_back(std::move(made));
  return facts.chips.back();
}

void add_hang(Hang hang, BoardFacts& facts) {
  switch (hang) {
    case Hang::none:
      break;
    case Hang::off_bus:
      facts.off_bus = true;
      break;
    case Hang::bus:
    case Hang::reset_unit:
      facts.bus_hung = true;
      break;
    case Hang::noc:
      facts.noc_hung = true;
      break;
  }
}

void add_telemetry(const Telemetry& telemetry, ChipFacts& chip, BoardFacts& facts) {
  if (telemetry.board_id) {
    if (facts.serial.empty()) facts.serial = serial_text(*telemetry.board_id);
    if (facts.type.empty()) facts.type = board_type(*telemetry.board_id);
  }
  if (!telemetry.firmware.empty()) {
    if (facts.firmware.empty()) facts.firmware = telemetry.firmware;
    chip.firmware = telemetry.firmware;
  }
  if (!telemetry.ethernet_firmware.empty()) chip.ethernet_firmware = telemetry.ethernet_firmware;
  if (telemetry.temperature_c) chip.temperature_c = telemetry.temperature_c;
  if (telemetry.throttle_c) chip.limit_c = telemetry.throttle_c;
  if (telemetry.shutdown_c) chip.shutdown_c = telemetry.shutdown_c;
  if (!telemetry.dram.empty()) chip.dram = telemetry.dram;
}

// The cores of a chip are to run the same; where they do not, the oldest is what matters.
void add_ethernet_firmware(const EthernetChannel& core, ChipFacts& chip) {
  if (!core.firmware) return;
  const auto version = Version::of_ethernet(*core.firmware);
  const auto known = Version::parse(chip.ethernet_firmware);
  if (version && (!known || version->older_than(*known))) chip.ethernet_firmware = version->text();
}

bool is_n300(const EthernetLook& look, const BoardFacts& facts) {
  if (facts.type == "n300") return true;
  if (!facts.type.empty() && facts.type != "unknown") return false;
  return std::any_of(look.channels.begin(), look.channels.end(), [](const EthernetChannel& core) {
    return core.local_board_type == n300_left;
  });
}

// What counters are kept by: the chip's own id, or its place on its board.
std::string chip_key(const ArcLook& arc, const BoardFacts& facts) {
  if (arc.telemetry && arc.telemetry->asic_id) {
    return fmt::format("{:016x}", *arc.telemetry->asic_id);
  }
  return (facts.serial.empty() ? facts.bus_id : facts.serial) + ":L";
}

LinkFacts link(const EthernetChannel& core, std::optional<std::uint64_t> board_id,
               const LinkGrowth& growth) {
  const LinkJudgement judgement = judge_on_board_link(core, board_id);
  LinkFacts facts;
  facts.from = fmt::format("L:{}", core.channel);
  facts.to = fmt::format("R:{}", core.channel - 8);
  facts.up = judgement.state == EthernetState::up;
  facts.known = judgement.state != EthernetState::unknown;
  facts.training = judgement.state == EthernetState::training;
  facts.why = judgement.why;
  facts.retrains = growth.retrains;
  facts.crc_errors = growth.crc_errors;
  facts.uncorrected = growth.uncorrected;
  return facts;
}

}  // namespace

void add(const ArcLook& look, BoardFacts& facts) {
  add_hang(look.hang, facts);
  if (look.driver_error == "ENODEV" || look.driver_error == "ENODATA") facts.resetting = true;
  if (look.driver_error == "EAGAIN") facts.held_alone = true;
  const bool saw_something = look.hang != Hang::none || look.post_code || look.telemetry;
  if (!saw_something) return;

  ChipFacts& left = chip(facts, "L");
  left.confidence = left.looked_at ? whole_chip : registers_only;
  left.looked_at = true;
  left.arc = look.state;
  left.post_code = look.post_code;
  // The same counter as the kernel's attribute, looked at later.
  if (look.heartbeat != Heartbeat::unknown) left.heartbeat = look.heartbeat;
  if (look.telemetry) add_telemetry(*look.telemetry, left, facts);
}

void add(const EthernetLook& look, const ArcLook& arc, Baselines& baselines, BoardFacts& facts) {
  add_hang(look.hang, facts);
  if (look.hang != Hang::none || !is_n300(look, facts)) return;
  if (facts.type.empty()) facts.type = "n300";
  const auto board_id = arc.telemetry ? arc.telemetry->board_id : std::nullopt;
  const std::string key = chip_key(arc, facts);
  for (const EthernetChannel& core : look.channels) {
    if (core.channel != 8 && core.channel != 9) continue;
    const LinkGrowth growth =
        baselines.growth(key, core.channel, {core.retrains, core.crc_errors, core.uncorrected});
    LinkFacts found = link(core, board_id, growth);
    add_ethernet_firmware(core, chip(facts, "L"));
    if (found.up) {
      ChipFacts& right = chip(facts, "R");
      if (!right.looked_at) right.confidence = link_level;
      right.looked_at = true;
    }
    std::erase_if(facts.links, [&](const LinkFacts& old) { return old.from == found.from; });
    facts.links.push_back(std::move(found));
  }
  if (!facts.links.empty()) chip(facts, "R");
}

}  // namespace trainward::hwprobe
