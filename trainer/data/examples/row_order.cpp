#include "trainer/data/examples/row_order.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>

#include "common/base/random.hpp"
#include "trainer/data/batch_reader.hpp"

namespace trainward::trainer {
namespace {

// Each use of the seed has numbers of its own: the order of groups must not repeat that of rows.
constexpr std::uint64_t for_packing = 0x7061636b;
constexpr std::uint64_t for_groups = 0x67726f75;
constexpr std::uint64_t for_holding_out = 0x686f6c64;

constexpr std::size_t groups_in_a_window = 50;

std::uint64_t seed_for(std::uint64_t use, std::uint64_t seed) { return splitmix64(seed ^ use); }

RowPlan flatten(const std::vector<std::vector<std::uint32_t>>& rows) {
  RowPlan plan;
  for (const auto& row : rows) {
    plan.examples.insert(plan.examples.end(), row.begin(), row.end());
    plan.ends.push_back(static_cast<std::uint32_t>(plan.examples.size()));
  }
  return plan;
}

}  // namespace

std::span<const std::uint32_t> RowPlan::row(std::uint32_t i) const {
  const std::uint32_t start = i == 0 ? 0 : ends[i - 1];
  return std::span(examples).subspan(start, ends[i] - start);
}

RowPlan one_a_row(std::uint32_t examples) {
  RowPlan plan;
  plan.examples.resize(examples);
  plan.ends.resize(examples);
  std::iota(plan.examples.begin(), plan.examples.end(), 0U);
  std::iota(plan.ends.begin(), plan.ends.end(), 1U);
  return plan;
}

RowPlan packed(std::span<const std::uint32_t> lengths, std::uint32_t block, std::uint64_t seed) {
  auto order =
      shuffled_order(static_cast<std::uint32_t>(lengths.size()), seed_for(for_packing, seed), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return lengths[a] > lengths[b]; });
  std::vector<std::vector<std::uint32_t>> rows;
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_room;  // rows that still have that much
  for (const std::uint32_t example : order) {
    const std::uint32_t length = lengths[example];
    const auto fullest = by_room.lower_bound(std::max(length, 1U));
    std::uint32_t row = 0;
    std::uint32_t room = block;
    if (fullest == by_room.end()) {
      row = static_cast<std::uint32_t>(rows.size());
      rows.emplace_back();
    } else {
      room = fullest->first;
      row = fullest->second.back();
      fullest->second.pop_back();
      if (fullest->second.empty()) by_room.erase(fullest);
    }
    rows[row].push_back(example);
    if (room > length) by_room[room - length].push_back(row);
  }
  return flatten(rows);
}

std::vector<std::uint32_t> order_by_length(std::span<const std::uint32_t> lengths,
                                           std::uint32_t group, std::uint64_t seed,
                                           std::uint64_t epoch) {
  const auto shuffled = shuffled_order(static_cast<std::uint32_t>(lengths.size()), seed, epoch);
  const std::size_t groups = shuffled.size() / group;
  // What fills no group is taken before anything is sorted: else it would always be the shortest.
  std::vector<std::uint32_t> sorted(shuffled.begin(),
                                    shuffled.begin() + static_cast<std::ptrdiff_t>(groups * group));
  const std::size_t window = groups_in_a_window * group;
  for (std::size_t from = 0; from < sorted.size(); from += window) {
    const auto begin = sorted.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end =
        sorted.begin() + static_cast<std::ptrdiff_t>(std::min(from + window, sorted.size()));
    std::stable_sort(begin, end,
                     [&](std::uint32_t a, std::uint32_t b) { return lengths[a] > lengths[b]; });
  }
  std::vector<std::uint32_t> order;
  order.reserve(shuffled.size());
  for (const std::uint32_t at :
       shuffled_order(static_cast<std::uint32_t>(groups), seed_for(for_groups, seed), epoch)) {
    const auto begin = sorted.begin() + static_cast<std::ptrdiff_t>(std::size_t{at} * group);
    order.insert(order.end(), begin, begin + group);
  }
  order.insert(order.end(), shuffled.begin() + static_cast<std::ptrdiff_t>(sorted.size()),
               shuffled.end());
  return order;
}

Split hold_out(std::uint32_t examples, double share, std::uint64_t seed) {
  Split split;
  auto order = shuffled_order(examples, seed_for(for_holding_out, seed), 0);
  std::size_t held = 0;
  if (share > 0 && examples > 1) {
    held = static_cast<std::size_t>(std::lround(share * examples));
    held = std::clamp<std::size_t>(held, 1, examples - 1);
  }
  const auto border = order.begin() + static_cast<std::ptrdiff_t>(held);
  split.held_out.assign(order.begin(), border);
  split.training.assign(border, order.end());
  std::sort(split.held_out.begin(), split.held_out.end());
  std::sort(split.training.begin(), split.training.end());
  return split;
}

}  // namespace trainward::trainer
