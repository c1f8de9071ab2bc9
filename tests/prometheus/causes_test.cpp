// What the rules say of causes is what the table of causes says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "supervisor/decide/core/cause.hpp"

namespace trainward {
namespace {

TEST(PrometheusRulesTest, ACrashIsAnEndByAFault) {
  std::ifstream file(SHIPPED "/prometheus/trainward.rules.yml");
  std::stringstream text;
  text << file.rdbuf();
  const std::string begin = "cause!~\"";
  const auto at = text.str().find(begin);
  ASSERT_NE(at, std::string::npos);
  std::istringstream list(text.str().substr(at + begin.size()));
  std::string names;
  std::getline(list, names, '"');
  std::istringstream each(names);
  std::set<std::string> left_out;
  for (std::string name; std::getline(each, name, '|');) left_out.insert(name);

  std::set<std::string> no_faults;
  for (const core::CauseFacts& row : core::causes) {
    if (!row.name.empty() && !core::is_fault(row.cause)) no_faults.emplace(row.name);
  }
  EXPECT_EQ(left_out, no_faults);
}

}  // namespace
}  // namespace trainward
