#include "hwprobe/draw/board_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "common/terminal/display_text.hpp"
#include "hwprobe/draw/verdict_colour.hpp"

namespace trainward::hwprobe {
namespace {

struct Row {
  std::array<std::string, 4> cells;  // all but the verdict
  Verdict verdict = Verdict::unknown;
  const Board* board = nullptr;
};

constexpr std::array<std::string_view, 4> titles{"BOARD", "TYPE", "BUS", "CHIPS"};
// At least so wide, so that tables of N300 boards look alike.
constexpr std::array<std::size_t, 4> least{17, 6, 13, 28};

std::string or_dash(const std::string& text) { return text.empty() ? "-" : clean(text); }

std::string chips_of(const Board& board) {
  std::string out;
  for (const Chip& chip : board.chips) {
    fmt::format_to(std::back_inserter(out), "{}{} {}", out.empty() ? "" : ", ", clean(chip.id),
                   to_string(chip.verdict));
    if (chip.temperature_c != 0) {
      fmt::format_to(std::back_inserter(out), " {:.0f}°C", chip.temperature_c);
    }
  }
  return out.empty() ? "-" : out;
}

void append(std::string& out, const Evidence& evidence, std::string_view indent) {
  fmt::format_to(std::back_inserter(out), "{}{}\n", indent, clean(evidence.what));
  if (!evidence.advice.empty()) {
    fmt::format_to(std::back_inserter(out), "{}  -> {}\n", indent, clean(evidence.advice));
  }
}

}  // namespace

std::string to_table(const Report& report, bool colours) {
  std::vector<Row> rows;
  std::array<std::size_t, 4> widths = least;
  for (const Board& board : report.boards) {
    rows.push_back(
        {{or_dash(board.serial), or_dash(board.type), or_dash(board.bus_id), chips_of(board)},
         board.verdict,
         &board});
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(rows.back().cells[i]));
    }
  }

  std::string out;
  const auto line = [&](const auto& cells, std::string_view verdict) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string_view cell = cells[i];
      out.append(cell).append(widths[i] - display_width(cell) + 1, ' ');
    }
    out.append(verdict).append("\n");
  };
  if (!rows.empty()) line(titles, "VERDICT");
  for (const Row& row : rows) {
    line(row.cells, painted(to_string(row.verdict), colour_of(row.verdict), colours));
    for (const Evidence& evidence : row.board->evidence) append(out, evidence, "    ");
  }
  for (const Evidence& evidence : report.evidence) append(out, evidence, "");
  return out;
}

}  // namespace trainward::hwprobe
