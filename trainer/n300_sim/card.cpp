#include "trainer/n300_sim/card.hpp"

#include <algorithm>

#include "common/base/json/json.hpp"
#include "common/base/json/strict_object.hpp"
#include "common/base/text.hpp"
#include "common/protocol/protocol.hpp"

namespace trainward::n300 {
namespace {

constexpr std::uint64_t chip_dram_bytes = std::uint64_t{12} << 30;
constexpr std::size_t most_chips = 1024;

Result<json::object> object_of(std::string_view text, const char* variable) {
  if (trim(text).empty()) return json::object();
  auto parsed = parse_json(text, variable);
  if (!parsed) return propagate(parsed);
  if (!parsed->is_object()) return fail(ErrorKind::usage, "is not a JSON object", variable);
  return std::move(parsed->get_object());
}

std::size_t board_of(std::string_view serial, std::vector<CardBoard>& boards) {
  const auto at = std::ranges::find(boards, serial, &CardBoard::serial);
  if (at != boards.end()) return static_cast<std::size_t>(at - boards.begin());
  boards.push_back({std::string(serial), {}});
  return boards.size() - 1;
}

// The chips that the plan's mesh names; none without a mesh.
Status read_mesh(const json::object& plan, Card& card) {
  const json::value* mesh = plan.if_contains("mesh");
  if (mesh == nullptr || !mesh->is_object()) return {};
  const auto chips = get_array(mesh->get_object(), "chips");
  if (!chips || (*chips)->size() > most_chips) {
    return fail(ErrorKind::usage, "mesh names no chips, or too many", env::plan);
  }
  for (const json::value& item : **chips) {
    const std::string_view name =
        item.is_string() ? std::string_view(item.get_string()) : std::string_view();
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos) {
      return fail(ErrorKind::usage, "mesh names a chip without a board", env::plan);
    }
    CardChip chip;
    chip.id = name.substr(slash + 1);
    chip.board = board_of(name.substr(0, slash), card.boards);
    card.chips.push_back(std::move(chip));
  }
  return {};
}

Status read_scripts(const json::object& simulate, Card& card) {
  const json::value* boards = simulate.if_contains("boards");
  if (boards == nullptr) {
    auto script = read_fault_script(simulate, env::simulate);
    if (!script) return propagate(script);
    for (CardBoard& board : card.boards) board.script = *script;
    return {};
  }
  StrictObject keys(simulate, env::simulate);
  const json::object* scripts = keys.object("boards");
  if (auto ok = keys.finish(); !ok) return ok;
  for (CardBoard& board : card.boards) {
    const json::value* own = scripts->if_contains(board.serial);
    if (own == nullptr) continue;
    const std::string where = fmt::format("{}.boards.{}", env::simulate, board.serial);
    if (!own->is_object()) return fail(ErrorKind::usage, "is not a JSON object", where);
    auto script = read_fault_script(own->get_object(), where);
    if (!script) return propagate(script);
    board.script = std::move(*script);
  }
  return {};
}

// Chips of a board that no plan names: L and R, and numbers where there are more.
void add_unnamed(Card& card) {
  const auto count = card.boards.front().script.chips;
  for (std::int64_t i = 0; i < count; ++i) {
    CardChip chip;
    chip.id = count <= 2 ? (i == 0 ? "L" : "R") : std::to_string(i);
    card.chips.push_back(std::move(chip));
  }
}

// A board's bytes are shared by its chips.
void give_each_its_part(Card& card) {
  for (std::size_t b = 0; b < card.boards.size(); ++b) {
    const FaultScript& script = card.boards[b].script;
    const auto own = [b](const CardChip& chip) { return chip.board == b; };
    const auto chips = static_cast<std::uint64_t>(std::ranges::count_if(card.chips, own));
    for (CardChip& chip : card.chips) {
      if (!own(chip)) continue;
      chip.dram_bytes = script.dram_bytes > 0 ? script.dram_bytes / chips : chip_dram_bytes;
      chip.base_bytes = script.base_bytes / chips;
      chip.leak_bytes_per_step = script.leak_bytes_per_step / chips;
      if (script.slow_chip && script.slow_chip->chip == chip.id) {
        chip.slowness = script.slow_chip->factor;
      }
    }
  }
}

// Sums go over the links of all boards.
void find_slowest_link(Card& card) {
  for (const CardBoard& board : card.boards) {
    const std::optional<Link>& own = board.script.link;
    if (!own) continue;
    if (!card.link) card.link = own;
    card.link->gb_per_s = std::min(card.link->gb_per_s, own->gb_per_s);
    card.link->latency_us = std::max(card.link->latency_us, own->latency_us);
  }
}

void take_out_the_dead(Card& card) {
  std::vector<std::size_t> seen(card.boards.size(), 0);
  std::erase_if(card.chips, [&](const CardChip& chip) {
    const bool second = ++seen[chip.board] == 2;
    return second && card.boards[chip.board].script.dead_second_chip;
  });
}

}  // namespace

Result<Card> read_card(std::string_view simulate, std::string_view plan) {
  auto script = object_of(simulate, env::simulate);
  if (!script) return propagate(script);
  auto planned = object_of(plan, env::plan);
  if (!planned) return propagate(planned);
  Card card;
  if (auto ok = read_mesh(*planned, card); !ok) return propagate(ok);
  if (card.boards.empty()) card.boards.emplace_back();
  if (auto ok = read_scripts(*script, card); !ok) return propagate(ok);
  if (card.chips.empty()) add_unnamed(card);
  give_each_its_part(card);
  find_slowest_link(card);
  take_out_the_dead(card);
  return card;
}

}  // namespace trainward::n300
