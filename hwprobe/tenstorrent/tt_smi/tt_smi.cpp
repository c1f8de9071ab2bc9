#include "hwprobe/tenstorrent/tt_smi/tt_smi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/base/text.hpp"
#include "hwprobe/report/finding.hpp"
#include "hwprobe/stages/loose_json.hpp"
#include "hwprobe/tenstorrent/decode/facts.hpp"
#include "hwprobe/tenstorrent/judge/verdict.hpp"

namespace trainward::hwprobe {
namespace {

constexpr std::size_t max_entries = 64;      // what a report holds
constexpr std::size_t max_processes = 1024;  // read
constexpr std::size_t max_holders = 16;      // told of one chip

// One entry of device_info: one chip.
struct Entry {
  std::string serial;  // 16 hex digits
  std::string type;    // "n300"
  std::string side;    // "L", "R"
  std::string bus_id;  // empty on R
  std::string bundle;
  std::string ethernet_firmware;
  std::string management_firmware;
  std::optional<double> temperature_c;
  std::optional<double> limit_c;
  std::optional<bool> dram_trained;
  bool looked_at = false;
  std::vector<std::int64_t> holders;
};

struct Snapshot {
  BoardFacts facts;
  std::vector<Entry> entries;  // in the order of facts.chips
};

// "10001451172208f", with or without 0x, is 010001451172208f. Anything else stays as it is.
std::string serial_of(const std::string& board_id) {
  const auto value = loose::whole_number(board_id.starts_with("0x") ? board_id : "0x" + board_id);
  return value ? fmt::format("{:016x}", *value) : lower_case(board_id);
}

// Nibbles of the six channels of a Wormhole, each 2 when its memory is trained; of the ones above
// some read otherwise on healthy chips.
std::optional<bool> trained(const json::object& telemetry, const json::object& board) {
  constexpr std::uint64_t six_channels = 0xffffff;
  constexpr std::uint64_t all_trained = 0x222222;
  if (const auto status = loose::whole(telemetry, {"DDR_STATUS", "SMBUS_TX_DDR_STATUS"})) {
    // All channels zero means that the value was never filled in.
    if ((*status & six_channels) != 0) return (*status & six_channels) == all_trained;
  }
  return loose::flag(board, {"dram_status"});
}

Entry read_entry(const json::object& device) {
  const json::object& registers = loose::object(device, "smbus_telem");
  const json::object& board = loose::object(device, "board_info");
  const json::object& telemetry = loose::object(device, "telemetry");
  const json::object& firmware = loose::object(device, "firmwares");

  Entry entry;
  std::string id = loose::text(board, {"board_id"});
  if (id.empty()) id = loose::text(registers, {"BOARD_ID", "SMBUS_TX_BOARD_ID"});
  if (!id.empty()) entry.serial = serial_of(id);
  const std::string type = loose::text(board, {"board_type"});  // "n300 L"
  const auto space = type.rfind(' ');
  entry.type = lower_case(type.substr(0, space));
  if (space != std::string::npos) entry.side = type.substr(space + 1);
  entry.bus_id = lower_case(loose::text(board, {"bus_id"}));
  if (entry.side != "L" && entry.side != "R") entry.side = entry.bus_id.empty() ? "R" : "L";

  entry.bundle = loose::text(firmware, {"fw_bundle_version"});
  entry.ethernet_firmware = loose::text(firmware, {"eth_fw"});
  entry.management_firmware = loose::text(firmware, {"cm_fw"});
  entry.temperature_c = loose::number(telemetry, {"asic_temperature"});
  entry.limit_c = loose::number(loose::object(device, "limits"), {"thm_limit"});
  entry.dram_trained = trained(registers, board);
  entry.looked_at = entry.temperature_c || entry.dram_trained || !registers.empty();
  return entry;
}

// Newer versions list processes, with the index of the entry or the bus as the device.
void read_processes(const json::object& snapshot, std::vector<Entry>& entries) {
  const auto* processes = snapshot.if_contains("processes");
  if (processes == nullptr || !processes->is_array()) return;
  std::size_t seen = 0;
  for (const json::value& value : processes->get_array()) {
    if (!value.is_object() || ++seen > max_processes) continue;
    const json::object& process = value.get_object();
    const auto pid = loose::whole(process, {"pid"});
    // tt-smi itself holds every device while it looks.
    if (!pid || loose::text(process, {"cmdline"}).find("tt-smi") != std::string::npos) continue;
    const auto index = loose::whole(process, {"device"});
    const std::string bus = lower_case(loose::text(process, {"device"}));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const bool here = index ? *index == i : !bus.empty() && entries[i].bus_id == bus;
      if (here && entries[i].holders.size() < max_holders) {
        entries[i].holders.push_back(static_cast<std::int64_t>(*pid));
      }
    }
  }
}

Snapshot new_board(Entry entry) {
  Snapshot board;
  board.facts.serial = entry.serial;
  board.facts.type = entry.type;
  board.facts.bus_id = entry.bus_id;
  board.entries.push_back(std::move(entry));
  return board;
}

// The board an entry without a bus belongs to: the first with its id that has no such chip yet.
Snapshot* board_for(std::vector<Snapshot>& boards, const Entry& entry) {
  for (Snapshot& board : boards) {
    if (board.facts.serial != entry.serial || entry.serial.empty()) continue;
    const bool has = std::ranges::any_of(
        board.entries, [&](const Entry& known) { return known.side == entry.side; });
    if (!has) return &board;
  }
  return nullptr;
}

std::vector<Snapshot> pair_up(std::vector<Entry> entries) {
  std::vector<Snapshot> boards;
  // Whatever their order in the file: first those on a bus, then what hangs on them.
  std::stable_partition(entries.begin(), entries.end(),
                        [](const Entry& entry) { return !entry.bus_id.empty(); });
  for (Entry& entry : entries) {
    Snapshot* board = entry.bus_id.empty() ? board_for(boards, entry) : nullptr;
    if (board == nullptr) {
      boards.push_back(new_board(std::move(entry)));
    } else {
      board->entries.push_back(std::move(entry));
    }
  }
  for (Snapshot& board : boards) {
    const auto same = std::ranges::count_if(boards, [&](const Snapshot& other) {
      return other.entries.front().serial == board.entries.front().serial;
    });
    if (board.facts.serial.empty()) {
      board.facts.serial = board.facts.bus_id;
    } else if (same > 1) {
      board.facts.serial += "@" + board.facts.bus_id;
    }
    // A serial number names one board, however odd the snapshot is.
    const auto before = std::ranges::count_if(
        boards.begin(), boards.begin() + (&board - boards.data()),
        [&](const Snapshot& other) { return other.facts.serial == board.facts.serial; });
    if (before > 0) board.facts.serial += fmt::format("#{}", &board - boards.data());
  }
  return boards;
}

void fill_facts(Snapshot& board) {
  for (const Entry& entry : board.entries) {
    ChipFacts chip;
    chip.id = entry.side;
    chip.confidence = entry.looked_at ? "tt-smi" : "not read";
    chip.temperature_c = entry.temperature_c;
    chip.limit_c = entry.limit_c;
    chip.looked_at = entry.looked_at;
    board.facts.chips.push_back(std::move(chip));
    if (board.facts.firmware.empty()) board.facts.firmware = entry.bundle;
    board.facts.holders.insert(board.facts.holders.end(), entry.holders.begin(),
                               entry.holders.end());
  }
}

std::vector<Finding> compare_firmware(const Entry& left, const Entry& right) {
  std::vector<Finding> findings;
  const auto compare = [&](std::string_view what, const std::string& a, const std::string& b) {
    if (a.empty() || b.empty() || a == b) return;
    findings.push_back(
        {Verdict::degraded,
         {fmt::format("chip {} has {} {}, chip {} has {}", left.side, what, a, right.side, b),
          "flash the whole board again with tt-flash"}});
  };
  compare("firmware bundle", left.bundle, right.bundle);
  compare("Ethernet firmware", left.ethernet_firmware, right.ethernet_firmware);
  compare("management firmware", left.management_firmware, right.management_firmware);
  return findings;
}

Board to_board(Snapshot snapshot) {
  fill_facts(snapshot);
  Board board = judge(snapshot.facts);
  for (std::size_t i = 0; i < snapshot.entries.size(); ++i) {
    const Entry& entry = snapshot.entries[i];
    if (entry.dram_trained.value_or(true)) continue;
    add_findings(board, board.chips[i],
                 {{Verdict::dram_bad,
                   {fmt::format("chip {}: not all of its memory could be trained", entry.side),
                    "reset the board; if it stays, have it repaired"}}});
  }
  if (snapshot.entries.size() == 2) {
    add_findings(board, board.chips[1], compare_firmware(snapshot.entries[0], snapshot.entries[1]));
  }
  if (snapshot.facts.type == "n300" && snapshot.entries.size() == 1) {
    const bool left = snapshot.entries.front().side == "L";
    board.chips.push_back({left ? "R" : "L", Verdict::unknown, "not listed", 0, {}});
    add_findings(
        board, board.chips.back(),
        {{left ? Verdict::remote_lost : Verdict::off_bus,
          {fmt::format("tt-smi does not list chip {} of this board", board.chips.back().id),
           "reset both boards together and look again"}}});
  }
  return board;
}

}  // namespace

Result<Report> read_tt_smi(std::string_view text, std::string_view where) {
  if (text.size() > max_snapshot_bytes) {
    return fail(ErrorKind::corrupt,
                fmt::format("is longer than {} bytes, which no snapshot is", max_snapshot_bytes),
                std::string(where));
  }
  auto value = parse_json(text, where);
  if (!value) return propagate(value);
  const auto refuse = [&](std::string what) {
    return fail(ErrorKind::corrupt, std::move(what), std::string(where),
                "a snapshot is what tt-smi -s --snapshot_no_tty prints");
  };
  if (!value->is_object()) return refuse("is not a tt-smi snapshot: not an object");
  const json::object& snapshot = value->get_object();
  const json::value* devices = snapshot.if_contains("device_info");
  if (devices == nullptr || !devices->is_array()) {
    return refuse("is not a tt-smi snapshot: there is no list 'device_info'");
  }
  if (devices->get_array().size() > max_entries) {
    return refuse(fmt::format("'device_info' has more than {} entries", max_entries));
  }
  std::vector<Entry> entries;
  for (const json::value& device : devices->get_array()) {
    if (!device.is_object()) return refuse("an entry of 'device_info' is not an object");
    entries.push_back(read_entry(device.get_object()));
  }
  read_processes(snapshot, entries);

  Report report;
  report.source = "tt-smi";
  for (Snapshot& board : pair_up(std::move(entries))) {
    report.boards.push_back(to_board(std::move(board)));
  }
  if (report.boards.empty()) report.evidence.push_back({"tt-smi lists no devices", ""});
  return report;
}

}  // namespace trainward::hwprobe
