#include "supervisor/daemon/boards/boards_found.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "common/base/json/json.hpp"
#include "supervisor/daemon/boards/lease.hpp"
#include "supervisor/daemon/boards/mesh_links.hpp"
#include "supervisor/daemon/boards/smaller_mesh.hpp"
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
    // The time of its end and not what is left: the same words as long as it lasts.
    if (core::quarantined(board.record, now)) {
      past.barred =
          fmt::format("in quarantine until {}: {}", iso8601(board.record.quarantined_until_wall_ms),
                      board.record.reason);
    }
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

// The chips, with the leases of their boards unless they are only asked about.
Result<MeshPlace> take_place(const hwprobe::Report& report, const BoardsWish& wish,
                             const config::Mesh& mesh, const BoardPasts& pasts, const Paths& paths,
                             Leases& out) {
  auto place = place_mesh(report, {mesh, wish.mesh.others}, pasts);
  if (!place || !wish.ours.empty()) return place;
  auto leases = take_leases(place->boards, paths);
  if (!leases) return propagate(leases);
  out = std::move(*leases);
  return place;
}

core::BoardSet whole_mesh(const hwprobe::Report& report, const BoardsWish& wish,
                          const BoardPasts& pasts, const Paths& paths, BoardsFound& out,
                          bool& may_shrink) {
  auto place = take_place(report, wish, wish.mesh.mesh, pasts, paths, out.leases);
  if (!place) {
    // What is only held by others is waited for.
    may_shrink = place.error().kind == ErrorKind::permanent;
    std::string refusal = place.error().what;
    std::vector<std::string> found;
    for (const hwprobe::Board& board : report.boards) found.push_back(board.serial);
    const std::string lost = lost_boards(wish.known, found);
    if (!lost.empty()) refusal += "; " + lost;
    core::BoardSet refused{{}, std::move(refusal)};
    if (may_shrink) refused.unlinked = boards_without_links(report, pasts);
    return refused;
  }
  const core::KnownMesh mesh{name_of(place->mesh), place->pairs, place->links};
  LostLinks lost = lost_links(wish.known, mesh);
  if (lost.too_many) {
    may_shrink = true;
    out.leases.clear();
    return {{}, lost.words + "; a restart by hand takes it as it is now"};
  }
  core::BoardSet set{place->boards, "", mesh, std::move(lost.words)};
  out.place = std::move(*place);
  return set;
}

void offer_smaller(const hwprobe::Report& report, const BoardsWish& wish, const BoardPasts& pasts,
                   const Paths& paths, BoardsFound& out) {
  core::BoardSet& whole = *out.event.set;
  for (const config::Mesh& mesh : wish.smaller) {
    if (chips_of(mesh) <= wish.has_chips) return;
    if (chips_of(mesh) < wish.min_chips) {
      if (!place_mesh(report, {mesh, wish.mesh.others}, pasts)) continue;
      whole.refusal += fmt::format("; one of {} would fit, and board.min_chips is {}",
                                   name_of(mesh), wish.min_chips);
      return;
    }
    auto place = take_place(report, wish, mesh, pasts, paths, out.leases);
    if (!place) continue;
    out.event.smaller =
        core::SmallerSet{place->boards,
                         {name_of(mesh), name_of(wish.mesh.mesh), whole.refusal, chips_of(mesh)},
                         cost_of(mesh, wish.mesh.mesh)};
    out.place = std::move(*place);
    return;
  }
}

}  // namespace

BoardsFound boards_found(const Result<hwprobe::Report>& report,
                         const std::optional<BoardsWish>& wish, store::Store& store,
                         const Paths& paths, WallTime now) {
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
  BoardPasts pasts = pasts_of(out.event, now);
  for (const std::string& serial : wish->ours) pasts[serial].ours = true;
  bool may_shrink = false;
  out.event.set = whole_mesh(trusted, *wish, pasts, paths, out, may_shrink);
  if (may_shrink) offer_smaller(trusted, *wish, pasts, paths, out);
  return out;
}

}  // namespace trainward::daemon
