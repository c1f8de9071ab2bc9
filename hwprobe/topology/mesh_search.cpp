#include "hwprobe/topology/mesh_search.hpp"

#include <algorithm>
#include <limits>

namespace trainward::hwprobe {
namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

// One square to fill. All meshes are filled one after the other, each row by row.
struct Cell {
  std::size_t mesh = 0;
  std::size_t left = none;  // the cell beside it, already filled
  std::size_t above = none;
  // Mirrored layouts cost the same: of them the one is tried whose first chip is the smallest
  // corner and, in a square, whose second row begins with a larger chip than its second column.
  // Equal meshes that follow each other may be swapped likewise.
  std::vector<std::size_t> must_exceed;  // cells already filled whose chip has to be smaller
};

std::vector<Cell> cells_of(std::span<const MeshShape> meshes) {
  std::vector<Cell> cells;
  std::size_t first_before = none;
  for (std::size_t mesh = 0; mesh < meshes.size(); ++mesh) {
    const auto [rows, columns] = meshes[mesh];
    const std::size_t first = cells.size();
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        Cell cell;
        cell.mesh = mesh;
        if (column > 0) cell.left = cells.size() - 1;
        if (row > 0) cell.above = cells.size() - columns;
        const bool corner = (row == 0 || row == rows - 1) && (column == 0 || column == columns - 1);
        if (corner && cells.size() != first) cell.must_exceed.push_back(first);
        if (rows == columns && row == 1 && column == 0) cell.must_exceed.push_back(first + 1);
        if (cells.size() == first && mesh > 0 && meshes[mesh] == meshes[mesh - 1]) {
          cell.must_exceed.push_back(first_before);
        }
        cells.push_back(std::move(cell));
      }
    }
    first_before = first;
  }
  return cells;
}

class Search {
 public:
  Search(const Terrain& terrain, std::span<const MeshShape> meshes, std::size_t max_steps)
      : terrain_(terrain),
        meshes_(meshes),
        cells_(cells_of(meshes)),
        steps_left_(max_steps),
        chip_of_(cells_.size(), none),
        taken_(terrain.chip.size(), false),
        mesh_on_(terrain.faults.size(), none) {
    std::vector<std::size_t> chips_on(terrain.faults.size(), 0);
    for (const std::size_t board : terrain.board) ++chips_on[board];
    const std::size_t most = chips_on.empty() ? 0 : std::ranges::max(chips_on);
    for (const MeshShape& mesh : meshes) {
      if (most > 0) fewest_boards_ += static_cast<std::int64_t>((mesh.chips() + most - 1) / most);
    }
  }

  SearchResult run() {
    fill(0, {});
    return {std::move(best_), complete_};
  }

 private:
  struct Candidate {
    Cost cost;
    std::size_t chip = 0;
  };

  [[nodiscard]] std::optional<Cost> cost_of(const Cell& cell, std::size_t chip, Cost cost) const {
    if (taken_[chip] || terrain_.chip[chip] == forbidden) return std::nullopt;
    cost.missing += terrain_.chip[chip];
    const std::size_t board = terrain_.board[chip];
    if (mesh_on_[board] != none && mesh_on_[board] != cell.mesh) return std::nullopt;
    for (const std::size_t neighbour : {cell.left, cell.above}) {
      if (neighbour == none) continue;
      const std::int64_t weight = terrain_.pair[chip_of_[neighbour]][chip];
      if (weight == forbidden) return std::nullopt;
      cost.missing += weight;
    }
    for (const std::size_t smaller : cell.must_exceed) {
      if (chip_of_[smaller] >= chip) return std::nullopt;
    }
    if (mesh_on_[board] == none) {
      ++cost.boards;
      cost.faults += terrain_.faults[board];
      cost.degraded += terrain_.degraded[board] ? 1 : 0;
    }
    return cost;
  }

  // What a layout that begins so costs in the end, at least.
  [[nodiscard]] Cost at_least(Cost cost) const {
    cost.boards = std::max(cost.boards, fewest_boards_);
    return cost;
  }

  // Fills the cells from `index` on; `cost` is that of the ones before.
  void fill(std::size_t index, const Cost& cost) {
    if (index == cells_.size()) {
      keep(cost);
      return;
    }
    const Cell& cell = cells_[index];
    std::vector<Candidate> candidates;
    for (std::size_t chip = 0; chip < terrain_.chip.size(); ++chip) {
      if (const auto with = cost_of(cell, chip, cost)) candidates.push_back({*with, chip});
    }
    // Stable: of equals the first chip is tried first.
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
    for (const Candidate& candidate : candidates) {
      // Costs only grow, so the rest cannot become cheaper than the best.
      if (best_ && !(at_least(candidate.cost) < best_->cost)) return;
      if (steps_left_ == 0) {
        complete_ = false;
        return;
      }
      --steps_left_;
      put(cell, index, candidate);
    }
  }

  void put(const Cell& cell, std::size_t index, const Candidate& candidate) {
    const std::size_t board = terrain_.board[candidate.chip];
    const std::size_t before = mesh_on_[board];
    mesh_on_[board] = cell.mesh;
    taken_[candidate.chip] = true;
    chip_of_[index] = candidate.chip;
    fill(index + 1, candidate.cost);
    chip_of_[index] = none;
    taken_[candidate.chip] = false;
    mesh_on_[board] = before;
  }

  void keep(const Cost& cost) {
    Layout layout;
    layout.cost = cost;
    auto next = chip_of_.begin();
    for (const MeshShape& mesh : meshes_) {
      const auto end = next + static_cast<std::ptrdiff_t>(mesh.chips());
      layout.chips.emplace_back(next, end);
      next = end;
    }
    best_ = std::move(layout);
  }

  const Terrain& terrain_;
  std::span<const MeshShape> meshes_;
  std::vector<Cell> cells_;
  std::size_t steps_left_;
  std::int64_t fewest_boards_ = 0;    // no layout touches fewer
  std::vector<std::size_t> chip_of_;  // of each cell
  std::vector<bool> taken_;           // each chip
  std::vector<std::size_t> mesh_on_;  // each board
  std::optional<Layout> best_;
  bool complete_ = true;
};

}  // namespace

SearchResult search_meshes(const Terrain& terrain, std::span<const MeshShape> meshes,
                           std::size_t max_steps) {
  return Search(terrain, meshes, max_steps).run();
}

}  // namespace trainward::hwprobe
