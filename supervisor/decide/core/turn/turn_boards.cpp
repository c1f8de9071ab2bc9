// Which boards an attempt runs on, what its end says of them, and what it does that finds none.
#include <algorithm>
#include <bit>
#include <utility>

#include "common/base/text.hpp"
#include "supervisor/decide/core/turn/deadlines.hpp"
#include "supervisor/decide/core/turn/turn.hpp"

namespace trainward::core {
namespace {

std::string describe(const BoardFound& board, WallTime now) {
  if (quarantined(board.record, now)) {
    return fmt::format("{} in quarantine for {}: {}", board.serial,
                       human_duration(board.record.quarantined_until_wall_ms - now),
                       board.record.reason);
  }
  return fmt::format("{} {}: {}", board.serial, board.verdict, board.evidence);
}

}  // namespace

void Turn::report_board(const BoardFound& board) {
  const bool held = quarantined(board.record, now_.wall);
  const std::string verdict = held ? "quarantine" : board.verdict;
  std::string& known = state_.history.boards[board.serial];
  if (known == verdict) return;
  known = verdict;
  if (!held && board.usable) {
    note("board", fmt::format("board {} is usable: {}{}", board.serial, board.verdict,
                              board.record.probation ? ", on probation" : ""));
  } else {
    note("board", fmt::format("board {} refused: {}", board.serial,
                              describe(board, now_.wall).substr(board.serial.size() + 1)));
  }
}

bool Turn::is_suspect(const std::string& serial, const std::string& why) const {
  const auto named = [&](const std::string& board) { return why.find(board) != std::string::npos; };
  const auto& more = state_.boards.more_boards;
  return named(serial) ||
         (!named(state_.boards.board) && std::ranges::none_of(more, named, &HeldBoard::serial));
}

bool Turn::is_nobodys(const std::string& why) const {
  const auto& more = state_.boards.more_boards;
  return !more.empty() && is_suspect(state_.boards.board, why) &&
         std::ranges::all_of(more,
                             [&](const HeldBoard& held) { return is_suspect(held.serial, why); });
}

// What fits all boards of a mesh lets others be preferred to them, and bars none of them.
void Turn::charge_board(Cause cause, const std::string& why, bool advanced) {
  if (!facts(cause).of_board) return;
  const bool nobodys = is_nobodys(why);
  state_.boards.got_on = nobodys && advanced;
  std::vector<HeldBoard>& before = state_.boards.before_charge;
  before.clear();
  each_board([&](const std::string& serial, BoardRecord& record) {
    if (!is_suspect(serial, why)) return;
    const BoardRecord known = record;
    const bool barred = add_fault(record, why, policy_.quarantine, now_.wall);
    if (barred && nobodys) {
      record = known;
      return;
    }
    if (!state_.boards.more_boards.empty()) before.push_back({serial, known});
    if (barred) {
      note("board", fmt::format("board {} goes into quarantine for {}: {}", serial,
                                human_duration(record.quarantined_until_wall_ms - now_.wall), why));
    }
    act(RecordBoard{serial, record});
  });
  if (!nobodys || advanced) return;
  note("board", fmt::format("which of {} it was cannot be told, so none goes into quarantine",
                            board_names()));
}

// Each board of a mesh was charged with a fault, since nobody could tell whose it was. When the
// look that follows finds some of them broken, it was theirs; when it finds none and the run got
// on, it was nobody's. True: some were cleared of it.
bool Turn::acquit_boards(const ProbeFinished& probe) {
  if (!probe.error.empty()) return false;
  const std::vector<HeldBoard> suspects = std::exchange(state_.boards.before_charge, {});
  std::vector<const HeldBoard*> sound;
  for (const HeldBoard& suspect : suspects) {
    const auto found = std::ranges::find(probe.boards, suspect.serial, &BoardFound::serial);
    if (found != probe.boards.end() && !is_broken(*found)) sound.push_back(&suspect);
  }
  const bool all = sound.size() == suspects.size();
  if (sound.empty() || (all && !state_.boards.got_on)) return false;
  std::string names;
  for (const HeldBoard* board : sound) {
    act(RecordBoard{board->serial, board->record});
    names += (names.empty() ? "" : ", ") + board->serial;
  }
  note("board",
       fmt::format("cleared of the newest fault, as {}: {}",
                   all ? "none is broken and the run got on" : "others are broken", names));
  return true;
}

void Turn::on(const ProbeFinished& e) {
  if (listening()) return grow_if_possible(e);
  if (state_.stage != Stage::probing) return;
  // They were chosen by what is no longer held against them.
  if (acquit_boards(e)) return act(Probe{});
  for (const BoardFound& board : e.boards) report_board(board);
  const bool whole = e.error.empty() && take_boards(e);
  if (whole) {
    take_whole_mesh(e);
  } else if (!e.error.empty() || !take_smaller(e)) {
    return wait_for_board(e);
  }
  state_.history.without_board_since.reset();
  select_checkpoint();
}

// The first of equals; nullptr if there are no candidates.
const BoardFound* Turn::cleanest_board(const ProbeFinished& probe) const {
  const BoardFound* chosen = nullptr;
  for (const BoardFound& board : probe.boards) {
    if (!board.usable || quarantined(board.record, now_.wall)) continue;
    if (chosen == nullptr || stains(board.record) < stains(chosen->record)) chosen = &board;
  }
  return chosen;
}

// False: there is no board to take, or not every board that the program is to have.
bool Turn::take_boards(const ProbeFinished& probe) {
  if (probe.set) return take_set(probe, probe.set->serials);
  const BoardFound* chosen = cleanest_board(probe);
  return chosen != nullptr && take_set(probe, {chosen->serial});
}

bool Turn::take_set(const ProbeFinished& probe, const std::vector<std::string>& serials) {
  std::vector<const BoardFound*> taken;
  for (const std::string& serial : serials) {
    const auto found = std::find_if(
        probe.boards.begin(), probe.boards.end(),
        [&](const BoardFound& board) { return board.serial == serial && board.usable; });
    if (found == probe.boards.end()) return false;
    taken.push_back(&*found);
  }
  if (taken.empty()) return false;
  drop_boards();
  state_.boards.board = taken.front()->serial;
  state_.boards.board_record = taken.front()->record;
  for (std::size_t i = 1; i < taken.size(); ++i) {
    state_.boards.more_boards.push_back({taken[i]->serial, taken[i]->record});
  }
  return true;
}

void Turn::on(const Settling& e) {
  if (state_.stage != Stage::repairing) return;
  state_.reason = fmt::format("leaving the boards of the mesh alone for {} after their reset",
                              human_duration(e.for_ms));
  note("reset", state_.reason);
}

void Turn::drop_boards() {
  state_.boards.board.clear();
  state_.boards.more_boards.clear();
}

std::vector<std::string> Turn::more_serials() const {
  std::vector<std::string> serials;
  for (const HeldBoard& held : state_.boards.more_boards) serials.push_back(held.serial);
  return serials;
}

std::string Turn::board_names() const {
  std::string names =
      (state_.boards.more_boards.empty() ? "board " : "boards ") + state_.boards.board;
  for (const HeldBoard& held : state_.boards.more_boards) names += ", " + held.serial;
  return names;
}

// What a reset may bring back: a broken board by itself, and boards without links all together.
std::vector<std::vector<std::string>> Turn::to_be_reset(const ProbeFinished& probe) {
  std::vector<std::vector<std::string>> groups;
  for (const BoardFound& board : probe.boards) {
    if (is_broken(board)) groups.push_back({board.serial});
  }
  if (probe.set && !probe.set->unlinked.empty()) groups.push_back(probe.set->unlinked);
  return groups;
}

// No board is not an attempt: nothing was launched, so no budget is charged but patience is.
void Turn::wait_for_board(const ProbeFinished& probe) {
  Wait wait{"board", "no board found", "no board found"};
  if (!probe.error.empty()) {
    wait = {"probe", probe.error, "the probe failed: " + probe.error};
  } else if (probe.set && !probe.set->refusal.empty()) {
    // Whom it waits for may change with each look.
    wait = {"placement", "no place to run", "no place to run: " + probe.set->refusal};
  } else if (!probe.boards.empty()) {
    wait = {"board", "no usable board", "no usable board: "};
    for (const BoardFound& board : probe.boards) {
      if (&board != &probe.boards.front()) wait.why += "; ";
      wait.why += describe(board, now_.wall);
    }
  }
  // What another program works on comes free without anybody's help.
  const bool in_use = std::ranges::any_of(probe.boards, &BoardFound::in_use);
  std::optional<WallTime>& since = state_.history.without_board_since;
  if (in_use) {
    since.reset();
  } else if (!since) {
    since = now_.wall;
  }
  state_.history.last_cause = Cause::no_board;
  const int looks = ++state_.history.rungs[Cause::no_board];
  // A reset brings back what only hangs. Tried after 1, 2, 4, 8, … looks in vain, one broken board
  // after the other: a dead board must neither be reset for ever nor keep the others from it.
  const auto groups = to_be_reset(probe);
  const auto look = static_cast<std::uint32_t>(looks);
  if (policy_.can_reset && std::has_single_bit(look) && !groups.empty()) {
    const auto turn = static_cast<std::size_t>(std::countr_zero(look));
    const std::vector<std::string>& group = groups.at(turn % groups.size());
    give_number_back();
    drop_boards();
    state_.boards.board = group.front();
    for (std::size_t i = 1; i < group.size(); ++i) {
      state_.boards.more_boards.push_back({group[i], {}});
    }
    state_.next.repairs.push_back(Remedy::reset_board);
    note("board", wait.why);
    return next_repair();
  }
  begin_later(Cause::no_board, looks, wait);
}

}  // namespace trainward::core
