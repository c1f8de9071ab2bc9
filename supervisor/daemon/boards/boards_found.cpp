#include "supervisor/daemon/boards/boards_found.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "common/base/json/json.hpp"
#include "supervisor/daemon/boards/lease.hpp"
#include "supervisor/decide/core/state.hpp"

namespace trainward::daemon {
namespace {

// It becomes the name of a file, and a report may come from a command of anybody's.
bool is_name(std::string_view serial) {
  return !serial.empty() && serial.size() <= 64 && serial.front() != '.' &&
         std::all_of(serial.begin(), serial.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == ':';
         });
}

core::BoardRecord record_of(store::Store& store, const std::string& serial) {
  const auto record = store.board_record(serial);
  if (!record || record->empty()) return {};
  const auto value = parse_json(*record, "record of board " + serial);
  return value ? core::board_record_from_json(*value) : core::BoardRecord{};
}

core::BoardFound as_found(const hwprobe::Board& board, store::Store& store, const Paths& paths) {
  core::BoardFound found{board.serial, std::string(hwprobe::to_string(board.verdict)),
                         hwprobe::usable(board.verdict),
                         board.evidence.empty() ? "" : board.evidence.front().what};
  if (!is_name(board.serial)) {
    found.usable = false;
    found.verdict = hwprobe::to_string(hwprobe::Verdict::unknown);
    found.evidence = "its serial number is invalid: letters, digits and - _ . : are expected";
    return found;
  }
  // A reset would take the board away from the process that uses it, whichever that is.
  found.in_use = board.verdict == hwprobe::Verdict::busy || !board.holders.empty();
  if (found.usable && found.in_use) {
    found.usable = false;
    found.verdict = "BUSY";
    found.evidence = fmt::format("in use by process {}", fmt::join(board.holders, ", "));
  }
  // Another program may hold the lease. If not, the one taken here is released at once.
  if (found.usable && !take_lease(paths.board_lease(board.serial))) {
    found.usable = false;
    found.in_use = true;
    found.verdict = "IN_USE";
    found.evidence = "another program works on it";
  }
  found.record = record_of(store, board.serial);
  return found;
}

BoardPasts pasts_of(const core::ProbeFinished& event, WallTime now) {
  BoardPasts pasts;
  for (const core::BoardFound& board : event.boards) {
    BoardPast& past = pasts[board.serial];
    past.barred = core::quarantined(board.record, now);
    past.taken = board.in_use;
    past.stains = core::stains(board.record);
  }
  return pasts;
}

// All of them or none.
Result<Leases> take_leases(const std::vector<std::string>& boards, const Paths& paths) {
  Leases leases;
  for (const std::string& serial : boards) {
    auto lease = take_lease(paths.board_lease(serial));
    if (!lease) return propagate(lease);
    leases.emplace(serial, std::move(*lease));
  }
  return leases;
}

core::BoardSet choose(const hwprobe::Report& report, const MeshWish& wish, const BoardPasts& pasts,
                      const Paths& paths, BoardsFound& out) {
  auto place = place_mesh(report, wish, pasts);
  if (!place) return {{}, place.error().what};
  auto leases = take_leases(place->boards, paths);
  if (!leases) return {{}, leases.error().message()};
  out.leases = std::move(*leases);
  core::BoardSet set{place->boards, ""};
  out.place = std::move(*place);
  return set;
}

}  // namespace

BoardsFound boards_found(const Result<hwprobe::Report>& report, const std::optional<MeshWish>& wish,
                         store::Store& store, const Paths& paths, WallTime now) {
  BoardsFound out;
  if (!report) {
    out.event.error = report.error().message();
    return out;
  }
  for (const hwprobe::Board& board : report->boards) {
    out.event.boards.push_back(as_found(board, store, paths));
  }
  if (!wish) return out;
  hwprobe::Report trusted = *report;
  std::erase_if(trusted.boards, [](const hwprobe::Board& b) { return !is_name(b.serial); });
  out.event.set = choose(trusted, *wish, pasts_of(out.event, now), paths, out);
  return out;
}

}  // namespace trainward::daemon
