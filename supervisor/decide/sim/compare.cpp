#include "supervisor/decide/sim/compare.hpp"

#include <fmt/format.h>

#include "supervisor/decide/sim/policies.hpp"
#include "supervisor/decide/sim/world.hpp"

namespace trainward::sim {

std::vector<Row> compare(const std::vector<Scenario>& scenarios) {
  std::vector<Row> rows;
  const auto n = static_cast<double>(scenarios.size());
  for (const Contender& contender : contenders) {
    Row row;
    row.policy = contender.name;
    Score sum;
    for (const Scenario& scenario : scenarios) {
      const Score score = play(scenario, contender.make(scenario.setup)).score;
      row.steps += static_cast<double>(score.furthest) / n;
      row.kept += static_cast<double>(score.kept) / n;
      row.executed += static_cast<double>(score.executed) / n;
      row.attempts += static_cast<double>(score.attempts) / n;
      for (std::size_t i = 0; i < spent_kinds; ++i) sum.ms.at(i) += score.ms.at(i);
    }
    row.effective = sum.effective();
    const Spent thief = sum.biggest_thief();
    row.thief = to_string(thief);
    row.thief_share = static_cast<double>(sum.ms.at(static_cast<std::size_t>(thief))) /
                      static_cast<double>(std::max<std::int64_t>(sum.total_ms(), 1));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string to_table(const std::vector<Row>& rows) {
  std::string text = fmt::format("{:<10} {:>8} {:>8} {:>9} {:>9} {:>10}  {}\n", "policy", "steps",
                                 "kept", "lost", "attempts", "effective", "biggest thief");
  for (const Row& row : rows) {
    text += fmt::format("{:<10} {:>8.0f} {:>8.0f} {:>9.0f} {:>9.0f} {:>8.1f} %  {} ({:.0f} %)\n",
                        row.policy, row.steps, row.kept, row.executed - row.steps, row.attempts,
                        100 * row.effective, row.thief, 100 * row.thief_share);
  }
  return text;
}

json::array to_json(const std::vector<Row>& rows) {
  json::array array;
  for (const Row& row : rows) {
    array.push_back(json::object{{"policy", row.policy},
                                 {"steps", row.steps},
                                 {"kept", row.kept},
                                 {"lost", row.executed - row.steps},
                                 {"attempts", row.attempts},
                                 {"effective", row.effective},
                                 {"biggest_thief", row.thief},
                                 {"biggest_thief_share", row.thief_share}});
  }
  return array;
}

}  // namespace trainward::sim
