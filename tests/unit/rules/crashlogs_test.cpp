// The rules against a folder of public crash logs, where one lies beside the source tree.
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "classify_log.hpp"

namespace trainward::rules {
namespace {

std::string slurp(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(CrashLogs, EveryLogIsClassifiedAsItsIndexSays) {
  const std::filesystem::path folder =
      std::filesystem::path(SOURCE_FOLDER) / "../shared/fixtures/crashlogs";
  std::ifstream index(folder / "INDEX.tsv");
  if (!index) GTEST_SKIP() << "no crash logs in " << folder;
  const auto matcher = LogMatcher::load();
  ASSERT_TRUE(matcher) << matcher.error().message();

  int right = 0;
  int all = 0;
  std::string line;
  std::getline(index, line);  // the header
  while (std::getline(index, line)) {
    std::istringstream fields(line);
    std::string file;
    std::string expected;
    std::getline(fields, file, '\t');
    std::getline(fields, expected, '\t');
    const Conclusion conclusion = classify_log(*matcher, slurp(folder / file));
    const std::string_view found = conclusion.crash_class();
    ++all;
    if (found == expected) ++right;
    EXPECT_EQ(found, expected) << file
                               << (conclusion.failed ? ": " + conclusion.verdict()->line : "");
  }
  EXPECT_GT(all, 0);
  RecordProperty("right", right);
  std::cout << right << " of " << all << " crash logs classified as expected\n";
}

}  // namespace
}  // namespace trainward::rules
