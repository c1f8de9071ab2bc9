// The tables of causes, remedies and states are the only lists: what docs/ says of them is
// compared.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "supervisor/decide/core/cause.hpp"
#include "supervisor/decide/core/need.hpp"
#include "supervisor/decide/core/phase.hpp"
#include "supervisor/decide/core/shown.hpp"
#include "supervisor/decide/core/weight.hpp"

namespace trainward::core {
namespace {

using testing::HasSubstr;

std::string document(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(SOURCE_FOLDER "/docs/" + name).rdbuf();
  return text.str();
}

// From one text up to the next one behind it.
std::string part(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from);
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find(to, begin + from.size()) - begin);
}

std::string code(std::string_view word) { return "`" + std::string(word) + "`"; }

// The words in the first column of a table, each with the text of its second.
std::map<std::string, std::string> rows(const std::string& table) {
  std::map<std::string, std::string> found;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t second = line.find(" | ");
    if (!line.starts_with("| `") || second == std::string::npos) continue;
    const std::string words = line.substr(0, second);
    const std::size_t begin = second + 3;
    const std::string text = line.substr(begin, line.rfind(" |") - begin);
    for (std::size_t at = words.find('`'); at != std::string::npos;) {
      const std::size_t end = words.find('`', at + 1);
      found[words.substr(at + 1, end - at - 1)] = text;
      at = words.find('`', end + 1);
    }
  }
  return found;
}

bool between_attempts(Cause cause) { return cause == Cause::none || cause >= Cause::no_board; }

TEST(Docs, EveryWeightIsInTheTableOfEvidence) {
  std::istringstream lines(part(document("supervision.md"), "| weight | evidence |", "\n\n"));
  std::vector<int> shown;
  for (std::string line; std::getline(lines, line);) {
    if (const int weight = std::atoi(line.c_str() + std::min<std::size_t>(2, line.size()))) {
      shown.push_back(weight);
    }
  }
  std::vector<int> known;
  for (const WeightFacts& row : weights) known.push_back(row.weight);
  EXPECT_EQ(shown, known);
}

TEST(Docs, EveryCauseHasItsLadder) {
  const std::string text = document("supervision.md");
  const auto ladders = rows(part(text, "## What is done", "The same class"));
  for (const CauseFacts& row : causes) {
    EXPECT_FALSE(row.words.empty()) << row.name;
    if (between_attempts(row.cause)) {
      EXPECT_TRUE(row.name.empty() || text.find(code(row.name)) != std::string::npos) << row.name;
      continue;
    }
    const auto found = ladders.find(std::string(row.name));
    ASSERT_NE(found, ladders.end()) << "docs/supervision.md lacks " << row.name;
    EXPECT_EQ(found->second, ladder_text(row.cause)) << row.name;
  }
  for (const auto& [name, ladder] : ladders) {
    EXPECT_TRUE(name == "unknown" || cause_from(name) != Cause::unknown) << name;
  }
}

TEST(Docs, EveryClassOfACrashRuleHasItsMeaning) {
  const auto classes = rows(part(document("crash-rules.md"), "## Classes", "What is done"));
  std::set<std::string> expected{"benign"};
  for (const CauseFacts& row : causes) {
    if (row.in_rules) expected.emplace(row.name);
  }
  std::set<std::string> found;
  for (const auto& [name, meaning] : classes) found.insert(name);
  EXPECT_EQ(found, expected);
}

TEST(Docs, EveryRemedyIsNamed) {
  const auto columns = rows(document("database.md"));
  for (const RemedyFacts& row : remedies) {
    EXPECT_FALSE(row.words.empty()) << row.name;
    EXPECT_THAT(columns.at("remedy"), HasSubstr(code(row.name)));
  }
}

TEST(Docs, EveryStateIsNamedAndHasItsExitCode) {
  const std::string in_database = rows(document("database.md")).at("state");
  const std::string exit_code = part(document("cli.md"), "| 3 | ", "\n");
  const std::string down = exit_code.substr(0, exit_code.find('('));
  for (const ShownFacts& row : shown_states) {
    if (row.shown == Shown::unknown) continue;  // only where a newer daemon meets an older program
    EXPECT_THAT(in_database, HasSubstr(code(row.name)));
    EXPECT_EQ(down.find(code(row.name)) != std::string::npos, row.down) << row.name;
  }
}

TEST(Docs, EverySnagIsNamed) {
  const std::string table =
      part(document("supervision.md"), "## When somebody has to act", "\n## ");
  for (const SnagFacts& row : snags) {
    if (row.snag == Snag::none) continue;
    EXPECT_THAT(table, HasSubstr(code(row.name)));
  }
}

TEST(Docs, EveryPhaseIsNamed) {
  const std::string in_database = part(document("database.md"), "### v_ledger", "### ");
  const std::string in_ladders = part(document("supervision.md"), "## Where the time went", "##");
  const std::string in_life = part(document("architecture.md"), "is booked to one phase", "\n");
  for (const std::string_view phase : phase_names) {
    EXPECT_THAT(in_database, HasSubstr(code(phase)));
    EXPECT_THAT(in_ladders, HasSubstr(std::string(phase)));
    EXPECT_THAT(in_life, HasSubstr(std::string(phase)));
  }
}

}  // namespace
}  // namespace trainward::core
