#include "supervisor/ctl/top/layout.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace trainward::ctl::top {
namespace {

constexpr int two_columns_from = 110;
constexpr int most_board_rows = 6;

struct Block {
  Pane pane = Pane::curve;
  int least = 0;  // rows
  int most = 0;   // rows it has a use for
  int share = 0;  // of the rows that are left, of all such shares
};

// Which goes first when there is no room for all.
constexpr std::array<Pane, 5> least_needed_first{Pane::boards, Pane::events, Pane::log, Pane::time,
                                                 Pane::curve};

constexpr int no_end = 10'000;

std::vector<Block> blocks_of(const std::array<bool, panes>& visible, Wanted wanted) {
  const std::array<Block, 5> all{
      {{Pane::curve, 5, no_end, 3},
       {Pane::time, 1, std::max(wanted.ledgers, 1), 0},
       {Pane::boards, 1, std::clamp(wanted.boards, 1, most_board_rows), 0},
       {Pane::events, 3, no_end, 1},
       {Pane::log, 3, no_end, 2}}};
  std::vector<Block> blocks;
  for (const Block& block : all) {
    if (visible.at(static_cast<std::size_t>(block.pane))) blocks.push_back(block);
  }
  return blocks;
}

int least_rows(const std::vector<Block>& blocks) {
  return std::accumulate(blocks.begin(), blocks.end(), 0,
                         [](int sum, const Block& block) { return sum + block.least; });
}

// One below the other.
void stack(std::vector<Block> blocks, const Rect& area, Layout& layout) {
  for (const Pane dropped : least_needed_first) {
    if (least_rows(blocks) <= area.height) break;
    std::erase_if(blocks, [&](const Block& block) { return block.pane == dropped; });
  }
  int left = area.height - least_rows(blocks);
  std::vector<int> rows;
  for (const Block& block : blocks) {
    const int more = block.most == no_end ? 0 : std::min(block.most - block.least, left);
    rows.push_back(block.least + more);
    left -= more;
  }
  // The rest goes round, a row at a time, so that a taller screen never takes a row from anybody.
  const int shares = std::accumulate(blocks.begin(), blocks.end(), 0,
                                     [](int sum, const Block& b) { return sum + b.share; });
  for (int turn = 0; shares > 0 && left > 0; ++turn) {
    for (std::size_t i = 0; i < blocks.size() && left > 0; ++i) {
      if (turn % 3 >= blocks[i].share) continue;
      ++rows[i];
      --left;
    }
  }
  int y = area.y;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    layout.pane.at(static_cast<std::size_t>(blocks[i].pane)) = {area.x, y, area.width, rows[i]};
    y += rows[i];
  }
}

}  // namespace

Layout lay_out(Size size, const std::array<bool, panes>& visible, Wanted wanted) {
  Layout layout;
  Rect rest{0, 0, std::max(size.width, 0), std::max(size.height, 0)};
  if (rest.empty()) return layout;
  if (rest.height >= 6) {
    layout.header = {0, 0, rest.width, 1};
    rest.y += 1;
    rest.height -= 1;
  }
  if (rest.height >= 2) {
    layout.footer = {0, rest.y + rest.height - 1, rest.width, 1};
    rest.height -= 1;
  }
  const int most = rest.height < 8 ? rest.height : std::max(rest.height * 2 / 5, 4);
  const int programs = std::clamp(wanted.programs, 1, std::max(most, 1));
  layout.pane.front() = {0, rest.y, rest.width, programs};
  rest.y += programs;
  rest.height -= programs;
  if (rest.height <= 0) return layout;

  auto blocks = blocks_of(visible, wanted);
  const auto is_left = [](const Block& block) {
    return block.pane == Pane::curve || block.pane == Pane::log;
  };
  std::vector<Block> left;
  std::vector<Block> right;
  for (const Block& block : blocks) (is_left(block) ? left : right).push_back(block);
  if (rest.width < two_columns_from || left.empty() || right.empty()) {
    stack(std::move(blocks), rest, layout);
    return layout;
  }
  const int left_width = rest.width * 3 / 5;
  stack(std::move(left), {rest.x, rest.y, left_width, rest.height}, layout);
  // A column between the two stays free.
  stack(std::move(right),
        {rest.x + left_width + 1, rest.y, rest.width - left_width - 1, rest.height}, layout);
  return layout;
}

}  // namespace trainward::ctl::top
