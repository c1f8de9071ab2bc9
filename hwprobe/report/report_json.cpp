// Report as JSON, between trainward-probe and the daemon. The reader trusts nothing: the probe may
// have died in the middle, or be another version.
#include <fmt/format.h>

#include <cmath>

#include "hwprobe/report/report.hpp"

namespace trainward::hwprobe {
namespace {

constexpr std::size_t max_entries = 64;  // boards, chips, links or lines of evidence
constexpr std::size_t max_text = 4096;

json::array evidence_json(const std::vector<Evidence>& evidence) {
  json::array out;
  for (const Evidence& item : evidence) {
    out.push_back({{"what", item.what}, {"advice", item.advice}});
  }
  return out;
}

json::object board_json(const Board& board) {
  json::array chips;
  for (const Chip& chip : board.chips) {
    chips.push_back({{"id", chip.id},
                     {"verdict", json::string_view(to_string(chip.verdict))},
                     {"confidence", chip.confidence},
                     {"temperature_c", chip.temperature_c},
                     {"evidence", evidence_json(chip.evidence)}});
  }
  json::array links;
  for (const Link& link : board.links) {
    links.push_back(
        {{"from", link.from}, {"to", link.to}, {"up", link.up}, {"retrains", link.retrains}});
  }
  return {{"serial", board.serial},
          {"type", board.type},
          {"bus_id", board.bus_id},
          {"verdict", json::string_view(to_string(board.verdict))},
          {"chips", std::move(chips)},
          {"links", std::move(links)},
          {"evidence", evidence_json(board.evidence)},
          {"holders", json::value_from(board.holders)},
          {"simulate", board.simulate}};
}

Result<std::string> text(const json::object& object, std::string_view key) {
  auto value = get_string(object, key);
  if (value && value->size() > max_text) {
    return fail(ErrorKind::corrupt, fmt::format("key '{}' is longer than {} bytes", key, max_text));
  }
  return value;
}

Result<Verdict> verdict(const json::object& object) {
  auto word = text(object, "verdict");
  if (!word) return propagate(word);
  for (int i = 0; i <= static_cast<int>(Verdict::absent); ++i) {
    if (to_string(static_cast<Verdict>(i)) == *word) return static_cast<Verdict>(i);
  }
  return fail(ErrorKind::corrupt, fmt::format("unknown verdict '{}'", word->substr(0, 40)));
}

// Reads a list of objects with `read`, at most max_entries of them.
template <typename T, typename Read>
Result<std::vector<T>> list(const json::object& object, std::string_view key, Read read) {
  auto array = get_array(object, key);
  if (!array) return propagate(array);
  if ((*array)->size() > max_entries) {
    return fail(ErrorKind::corrupt, fmt::format("'{}' has more than {} entries", key, max_entries));
  }
  std::vector<T> out;
  for (const json::value& item : **array) {
    if (!item.is_object()) {
      return fail(ErrorKind::corrupt, fmt::format("an entry of '{}' is not an object", key));
    }
    Result<T> entry = read(item.get_object());
    if (!entry) return propagate(entry);
    out.push_back(std::move(*entry));
  }
  return out;
}

Result<Evidence> read_evidence(const json::object& object) {
  auto what = text(object, "what");
  if (!what) return propagate(what);
  auto advice = text(object, "advice");
  if (!advice) return propagate(advice);
  return Evidence{std::move(*what), std::move(*advice)};
}

Result<Chip> read_chip(const json::object& object) {
  Chip chip;
  auto id = text(object, "id");
  if (!id) return propagate(id);
  auto word = verdict(object);
  if (!word) return propagate(word);
  auto evidence = list<Evidence>(object, "evidence", read_evidence);
  if (!evidence) return propagate(evidence);
  chip.id = std::move(*id);
  chip.verdict = *word;
  chip.confidence = string_or(object, "confidence", "").substr(0, max_text);
  chip.temperature_c = number_or(object, "temperature_c", 0);
  chip.evidence = std::move(*evidence);
  return chip;
}

Result<Link> read_link(const json::object& object) {
  auto from = text(object, "from");
  if (!from) return propagate(from);
  auto to = text(object, "to");
  if (!to) return propagate(to);
  auto up = get_bool(object, "up");
  if (!up) return propagate(up);
  return Link{std::move(*from), std::move(*to), *up, int_or(object, "retrains", 0)};
}

// Absent in reports of older probes; what is no pid is left out.
std::vector<std::int64_t> read_holders(const json::object& object) {
  std::vector<std::int64_t> holders;
  const auto array = get_array(object, "holders");
  if (!array) return holders;
  for (const json::value& item : **array) {
    if (item.is_int64() && holders.size() < max_entries) holders.push_back(item.get_int64());
  }
  return holders;
}

Result<Board> read_board(const json::object& object) {
  Board board;
  auto serial = text(object, "serial");
  if (!serial) return propagate(serial);
  auto word = verdict(object);
  if (!word) return propagate(word);
  auto chips = list<Chip>(object, "chips", read_chip);
  if (!chips) return propagate(chips);
  auto links = list<Link>(object, "links", read_link);
  if (!links) return propagate(links);
  auto evidence = list<Evidence>(object, "evidence", read_evidence);
  if (!evidence) return propagate(evidence);
  board.serial = std::move(*serial);
  board.type = string_or(object, "type", "").substr(0, max_text);
  board.bus_id = string_or(object, "bus_id", "").substr(0, max_text);
  board.verdict = *word;
  board.chips = std::move(*chips);
  board.links = std::move(*links);
  board.evidence = std::move(*evidence);
  board.holders = read_holders(object);
  if (auto simulate = get_object(object, "simulate")) board.simulate = **simulate;
  return board;
}

}  // namespace

json::object to_json(const Report& report) {
  json::array boards;
  for (const Board& board : report.boards) boards.push_back(board_json(board));
  return {{"source", report.source},
          {"boards", std::move(boards)},
          {"evidence", evidence_json(report.evidence)}};
}

Result<Report> report_from_json(const json::value& value) {
  if (!value.is_object()) return fail(ErrorKind::corrupt, "the probe report is not an object");
  const json::object& object = value.get_object();
  auto source = text(object, "source");
  if (!source) return propagate(source);
  auto boards = list<Board>(object, "boards", read_board);
  if (!boards) return propagate(boards);
  auto evidence = list<Evidence>(object, "evidence", read_evidence);
  if (!evidence) return propagate(evidence);
  return Report{std::move(*source), std::move(*boards), std::move(*evidence)};
}

}  // namespace trainward::hwprobe
