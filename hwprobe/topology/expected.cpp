#include "hwprobe/topology/expected.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.hpp"
#include "hwprobe/topology/connectors.hpp"
#include "hwprobe/topology/ends.hpp"

namespace trainward::hwprobe {
namespace {

Board* find_board(Report& report, std::string_view serial) {
  const std::string wanted = lower_case(serial);
  const auto found =
      std::find_if(report.boards.begin(), report.boards.end(),
                   [&](const Board& board) { return lower_case(board.serial) == wanted; });
  return found == report.boards.end() ? nullptr : &*found;
}

Chip* find_chip(Board& board, std::string_view id) {
  const auto found = std::find_if(board.chips.begin(), board.chips.end(),
                                  [&](const Chip& chip) { return chip.id == id; });
  return found == board.chips.end() ? nullptr : &*found;
}

// Evidence is ordered worst first, and every board already has a verdict.
void blame(Board& board, Verdict verdict, Evidence evidence) {
  const bool worst = verdict > board.verdict;
  board.evidence.insert(worst ? board.evidence.begin() : board.evidence.end(), std::move(evidence));
  board.verdict = std::max(board.verdict, verdict);
}

Board absent(const ExpectedBoard& expected) {
  Board board;
  board.serial = lower_case(expected.serial);
  board.type = expected.type;
  board.bus_id = expected.bus_id;
  board.verdict = Verdict::absent;
  for (const std::string& id : expected.chips) {
    board.chips.push_back({id, Verdict::absent, "expected", 0, {}});
  }
  board.evidence.push_back({fmt::format("board {} is expected and was not found", board.serial),
                            "check its power and its seat, then look again; power-cycle the host"});
  return board;
}

// Whether `listed`, a link of `board`, is the cable between the two ends.
bool is_cable(const Link& listed, const Board& board, const End& from, const End& to) {
  const auto a = parse_end(listed.from, board.serial);
  const auto b = parse_end(listed.to, board.serial);
  return a && b && ((*a == from && *b == to) || (*a == to && *b == from));
}

// A trace on a board is the board's own business: only cables between boards need to be expected
// before their silence is a fault, and a source cannot know which are.
void judge_cable(Report& report, const Link& cable) {
  const auto from = parse_end(cable.from, "");
  const auto to = parse_end(cable.to, "");
  if (!from || !to || from->board == to->board) return;
  bool down = false;
  for (const Board& board : report.boards) {
    for (const Link& listed : board.links) {
      down = down || (!listed.up && is_cable(listed, board, *from, *to));
    }
  }
  if (!down) return;
  const auto name = [&](const End& end) {
    const Board* board = find_board(report, end.board);
    return with_connector(to_text(end),
                          board == nullptr ? "" : socket_of({board->type, board->bus_id}, end));
  };
  const Evidence evidence{
      fmt::format("the cable from {} to {} is down", name(*from), name(*to)),
      "check both plugs; after a reset a cable may take three minutes to come up"};
  for (const std::string& serial : {from->board, to->board}) {
    Board* board = find_board(report, serial);
    if (board != nullptr) blame(*board, Verdict::degraded, evidence);
  }
}

}  // namespace

void apply_expected(Report& report, const Expected& expected) {
  for (const ExpectedBoard& wanted : expected.boards) {
    Board* board = find_board(report, wanted.serial);
    if (board == nullptr) {
      report.boards.push_back(absent(wanted));
      continue;
    }
    if (board->verdict == Verdict::absent) continue;
    for (const std::string& id : wanted.chips) {
      if (find_chip(*board, id) != nullptr) continue;
      // Chip R is reached through chip L: a board without it has lost it.
      const Verdict verdict = id == "R" ? Verdict::remote_lost : Verdict::degraded;
      const Evidence evidence{fmt::format("chip {} is expected and was not found", id),
                              "reset both boards together and probe again"};
      board->chips.push_back({id, Verdict::absent, "expected", 0, {evidence}});
      blame(*board, verdict, evidence);
    }
  }
  for (const Link& cable : expected.links) judge_cable(report, cable);
}

}  // namespace trainward::hwprobe
