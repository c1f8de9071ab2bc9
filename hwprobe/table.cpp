#include "hwprobe/table.hpp"

#include <fmt/format.h>

#include <iterator>

namespace trainward::hwprobe {
namespace {

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

void append(std::string& out, const Evidence& evidence, std::string_view indent) {
  fmt::format_to(std::back_inserter(out), "{}{}\n", indent, evidence.what);
  if (!evidence.advice.empty()) {
    fmt::format_to(std::back_inserter(out), "{}  -> {}\n", indent, evidence.advice);
  }
}

}  // namespace

std::string to_table(const Report& report) {
  std::string out;
  const auto row = [&](std::string_view serial, std::string_view type, std::string_view bus,
                       std::string_view chips, std::string_view verdict) {
    fmt::format_to(std::back_inserter(out), "{:<17} {:<6} {:<13} {:<28} {}\n", serial, type, bus,
                   chips, verdict);
  };
  if (!report.boards.empty()) row("BOARD", "TYPE", "BUS", "CHIPS", "VERDICT");
  for (const Board& board : report.boards) {
    std::string chips;
    for (const Chip& chip : board.chips) {
      fmt::format_to(std::back_inserter(chips), "{}{} {}", chips.empty() ? "" : ", ", chip.id,
                     to_string(chip.verdict));
      if (chip.temperature_c != 0) {
        fmt::format_to(std::back_inserter(chips), " {:.0f}°C", chip.temperature_c);
      }
    }
    row(or_dash(board.serial), or_dash(board.type), or_dash(board.bus_id), or_dash(chips),
        to_string(board.verdict));
    for (const Evidence& evidence : board.evidence) append(out, evidence, "    ");
  }
  for (const Evidence& evidence : report.evidence) append(out, evidence, "");
  return out;
}

}  // namespace trainward::hwprobe
