#include "hwprobe/tenstorrent/judge/verdict.hpp"

#include <algorithm>
#include <utility>

#include "hwprobe/tenstorrent/decode/versions.hpp"
#include "hwprobe/tenstorrent/judge/findings.hpp"

namespace trainward::hwprobe {
namespace {

std::vector<Evidence> evidence_of(Findings findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.verdict > b.verdict; });
  std::vector<Evidence> out;
  for (Finding& finding : findings) out.push_back(std::move(finding.evidence));
  return out;
}

Verdict worst(const Findings& findings, Verdict start) {
  for (const Finding& finding : findings) start = std::max(start, finding.verdict);
  return start;
}

Chip to_chip(const ChipFacts& facts, Findings findings) {
  Chip chip;
  chip.id = facts.id;
  chip.verdict = worst(findings, facts.looked_at ? Verdict::ok : Verdict::unknown);
  chip.confidence = facts.confidence;
  chip.temperature_c = facts.temperature_c.value_or(0);
  chip.evidence = evidence_of(std::move(findings));
  return chip;
}

void judge_unreachable(const BoardFacts& facts, Finding finding, Board& board) {
  for (const ChipFacts& chip : facts.chips) board.chips.push_back(to_chip(chip, {finding}));
  board.verdict = finding.verdict;
  board.evidence.push_back(std::move(finding.evidence));
}

void judge_reachable(const BoardFacts& facts, Board& board) {
  Findings all = judge_board(facts);
  const Findings links = judge_links(facts);
  bool known = !all.empty() || std::any_of(facts.links.begin(), facts.links.end(),
                                           [](const LinkFacts& link) { return link.known; });
  for (const ChipFacts& chip : facts.chips) {
    Findings own = judge_chip(chip, facts);
    all.insert(all.end(), own.begin(), own.end());
    known = known || chip.looked_at;
    // Only R depends on the on-board links; L is reached over PCIe.
    if (chip.id == "R" && remote_unreachable(facts)) own.push_back(links.front());
    board.chips.push_back(to_chip(chip, std::move(own)));
  }
  all.insert(all.end(), links.begin(), links.end());
  board.verdict = worst(all, known ? Verdict::ok : Verdict::unknown);
  board.evidence = evidence_of(std::move(all));
}

}  // namespace

Board judge(const BoardFacts& facts) {
  Board board;
  board.serial = facts.serial;
  board.type = facts.type;
  board.bus_id = facts.bus_id;
  board.holders = facts.holders;
  board.simulate = facts.simulate;
  for (const LinkFacts& link : facts.links) {
    if (link.known) board.links.push_back({link.from, link.to, link.up, link.retrains});
  }
  if (auto finding = judge_reach(facts)) {
    judge_unreachable(facts, std::move(*finding), board);
  } else {
    judge_reachable(facts, board);
  }
  return board;
}

std::vector<Board> judge_host(std::vector<BoardFacts> host) {
  const BoardFacts* newest = nullptr;
  std::optional<Version> newest_version;
  for (const BoardFacts& facts : host) {
    const auto version = Version::parse(facts.firmware);
    if (!version) continue;
    if (!newest_version || newest_version->older_than(*version)) {
      newest_version = version;
      newest = &facts;
    }
  }
  const std::string text = newest == nullptr ? "" : newest->firmware;
  std::vector<Board> boards;
  for (BoardFacts& facts : host) {
    const auto version = Version::parse(facts.firmware);
    if (version && version->parts != newest_version->parts) facts.newest_firmware = text;
    boards.push_back(judge(facts));
  }
  return boards;
}

}  // namespace trainward::hwprobe
