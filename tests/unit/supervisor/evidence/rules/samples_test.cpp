// The rules against our own logs: samples/CLASS-NAME.txt, written in the style of what programs
// print. Those of class benign are logs of runs that are well.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "matcher_fixture.hpp"

namespace trainward::rules {
namespace {

struct Log {
  std::string name;
  std::string expected;
  std::string text;
};

std::vector<Log> all_samples() {
  std::vector<Log> logs;
  const auto folder =
      std::filesystem::path(SOURCE_FOLDER) / "tests/unit/supervisor/evidence/rules/samples";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string name = entry.path().stem();
    logs.push_back({name, name.substr(0, name.find('-')), text.str()});
  }
  std::sort(logs.begin(), logs.end(), [](const Log& a, const Log& b) { return a.name < b.name; });
  return logs;
}

using Samples = BuiltinMatcher;

TEST_F(Samples, EveryLogHasTheClassInItsName) {
  std::map<std::string, int> seen;
  for (const Log& log : all_samples()) {
    ++seen[log.expected];
    const Conclusion found = classify(log.text);
    EXPECT_EQ(found.crash_class(), log.expected)
        << log.name << (found.failed ? ": " + found.verdict()->line : "");
    EXPECT_EQ(found.failed, log.expected != "benign") << log.name;
    if (found.failed) {
      EXPECT_FALSE(found.verdict()->line.empty()) << log.name;
      EXPECT_GT(found.verdict()->line_number, 0) << log.name;
    }
  }
  EXPECT_EQ(seen.size(), 1 + std::ranges::count(core::causes, true, &core::CauseFacts::in_rules));
  EXPECT_GE(seen["benign"], 30);
}

// A daemon reads logs as they grow: where the pieces end must not matter.
TEST_F(Samples, PiecesOfAnySizeGiveTheSameVerdict) {
  for (const Log& log : all_samples()) {
    const Conclusion whole = classify(log.text);
    for (const std::size_t size : {1U, 7U, 64U}) {
      LogClassifier classifier(*matcher);
      for (std::size_t i = 0; i < log.text.size(); i += size) {
        classifier.feed(std::string_view(log.text).substr(i, size));
      }
      const Conclusion pieces = classifier.conclude();
      EXPECT_EQ(pieces.crash_class(), whole.crash_class()) << log.name;
      ASSERT_EQ(pieces.findings.size(), whole.findings.size()) << log.name;
      for (std::size_t i = 0; i < whole.findings.size(); ++i) {
        EXPECT_EQ(pieces.findings[i].rule, whole.findings[i].rule) << log.name;
        EXPECT_EQ(pieces.findings[i].line_number, whole.findings[i].line_number) << log.name;
      }
    }
  }
}

// Half a log must not be called a fault when the whole is well.
TEST_F(Samples, NoBeginningOfAHealthyLogIsAFaultForGood) {
  for (const Log& log : all_samples()) {
    if (log.expected != "benign") continue;
    const Conclusion twice = classify_log(*matcher, log.text + "\n" + log.text);
    EXPECT_FALSE(twice.failed) << log.name;
  }
}

}  // namespace
}  // namespace trainward::rules
