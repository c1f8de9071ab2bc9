// Aligned columns for people. Cells are cleaned; colours never change the widths.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/terminal/colour.hpp"

namespace trainward::ctl {

struct Style {
  bool colour = false;
  int width = 0;  // columns of the terminal; 0: lines are never cut
};

std::string coloured(std::string_view text, Colour colour, const Style& style);

// The colour of a program's state or a board's verdict.
Colour colour_of(std::string_view word);

struct Cell {
  Cell(std::string cell_text, Colour cell_colour = Colour::plain)  // NOLINT: a text is a cell
      : text(std::move(cell_text)), colour(cell_colour) {}
  std::string text;
  Colour colour;
};

enum class Align { left, right };

class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  // Titles first, unless all are empty. Only the last column is cut to the terminal's width.
  [[nodiscard]] std::string text(const Style& style, std::string_view indent = "") const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace trainward::ctl
