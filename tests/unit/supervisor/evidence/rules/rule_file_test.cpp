// Rules of the user: added, changed, switched off, and refused with their place.
#include "supervisor/evidence/rules/rule_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "classify_log.hpp"
#include "temporary_folder.hpp"

namespace trainward::rules {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class RuleFile : public testing::Test {
 protected:
  Result<LogMatcher> load(const std::string& text) const {
    std::ofstream(folder_ / "r.yaml", std::ios::binary) << text;
    return LogMatcher::load(folder_ / "r.yaml");
  }
  std::string error(const std::string& text) const {
    const auto loaded = load(text);
    return loaded ? "" : loaded.error().message();
  }

  const TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

TEST_F(RuleFile, NewRulesComeBeforeTheBuiltInOnes) {
  const auto matcher = load(
      "rules:\n"
      "  - {id: my-oom, class: device_oom, match: 'std::bad_alloc'}\n"
      "  - {id: my-mask, class: benign, match: 'bad_alloc is fine'}\n");
  ASSERT_TRUE(matcher) << matcher.error().message();
  const auto matches = classify_log(*matcher, "std::bad_alloc is fine\nstd::bad_alloc\n").findings;
  ASSERT_EQ(matches.size(), 1U);
  EXPECT_EQ(matches[0].rule, "my-oom");
  EXPECT_EQ(matches[0].line_number, 2);
}

TEST_F(RuleFile, AnExistingRuleIsChangedKeyByKey) {
  const auto matcher = load(
      "rules:\n"
      "  - {id: oom-host-process, advice: Buy memory}\n"
      "  - {id: disk-full, enabled: false}\n");
  ASSERT_TRUE(matcher) << matcher.error().message();
  const auto matches = classify_log(*matcher, "No space left on device\nstd::bad_alloc\n").findings;
  ASSERT_EQ(matches.size(), 1U);
  EXPECT_EQ(matches[0].rule, "oom-host-process");
  EXPECT_EQ(to_string(matches[0].cause), "host_oom");
  EXPECT_EQ(matches[0].advice, "Buy memory");
  EXPECT_TRUE(matcher->warnings().empty());
}

TEST_F(RuleFile, KeysOfEarlierReleasesAreNamedAndChangeNothing) {
  const auto matcher = load(
      "rules:\n"
      "  - {id: oom-host-process, transient: no}\n"
      "  - {id: mine, class: data, match: 'too late', remedy: replace_host}\n");
  ASSERT_TRUE(matcher) << matcher.error().message();
  ASSERT_EQ(matcher->warnings().size(), 2U);
  EXPECT_THAT(matcher->warnings()[0],
              HasSubstr("r.yaml:2:39: rules[0].transient: has no effect, and may be left out"));
  EXPECT_THAT(matcher->warnings()[1], HasSubstr("r.yaml:3:56: rules[1].remedy: has no effect"));
  EXPECT_EQ(classify_log(*matcher, "too late\n").crash_class(), "data");
}

TEST_F(RuleFile, AnEmptyListIsFine) { EXPECT_TRUE(load("rules: []\n")); }

TEST_F(RuleFile, ProblemsHaveTheirPlace) {
  EXPECT_THAT(error("rules:\n  - {id: x, class: hang, match: '(a'}\n"),
              HasSubstr("r.yaml:2:33: rules[0].match: not a valid regular expression: missing )"));
  EXPECT_THAT(error("rules:\n  - {id: x, class: hang, match: 'a*'}\n"),
              HasSubstr("matches the empty line"));
  EXPECT_THAT(error("rules:\n  - {id: x, class: hangs, match: 'a'}\n"),
              AllOf(HasSubstr("r.yaml:2:20: rules[0].class: expected one of benign, "),
                    HasSubstr("did you mean 'hang'?")));
  EXPECT_THAT(error("rules:\n  - {id: x}\n"),
              AllOf(HasSubstr("2:5: rules[0]: missing key 'class'"),
                    HasSubstr("(also 2:5: rules[0]: missing key 'match'")));
  EXPECT_THAT(error("rules:\n  - {id: X y, class: hang, match: a}\n"),
              HasSubstr("expected 1 to 64 of a-z 0-9 -, found the text 'X y'"));
  EXPECT_THAT(error("rules:\n  - {id: disk-full, mach: a}\n"),
              HasSubstr("r.yaml:2:21: unknown key 'mach'; did you mean 'match'?"));
  EXPECT_THAT(error("rules:\n  - {id: disk-full}\n  - {id: disk-full}\n"),
              HasSubstr("3:10: rules[1].id: a second rule 'disk-full' in this file"));
  EXPECT_THAT(error("rule: []\n"), HasSubstr("missing key 'rules'"));
  EXPECT_THAT(error("rules: [\n"), HasSubstr("not valid YAML"));
  EXPECT_THAT(error("rules: [5]\n"), HasSubstr("rules[0]: expected a map of keys"));
  std::string many = "rules:\n";
  for (int i = 0; i < 20; ++i) many += "  - {id: disk-full, x: 1}\n";
  EXPECT_THAT(error(many), HasSubstr("more)"));
}

TEST_F(RuleFile, ARuleMayHaveManyPatternsAStrengthAndAScope) {
  const auto matcher = load(
      "rules:\n"
      "  - {id: mine, class: network, match: ['queue \\d+ closed', 'lost the queue'], strength: "
      "cascade}\n"
      "  - {id: my-error, class: data, match: '^MyError', in: exception}\n"
      "  - {id: my-step, class: progress, match: '^tick \\d+'}\n");
  ASSERT_TRUE(matcher) << matcher.error().message();
  const auto found = classify_log(*matcher, "x MyError: y\nlost the queue\nqueue 7 closed\n");
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_EQ(found.findings[0].rule, "mine");
  EXPECT_EQ(found.findings[0].count, 2);
  EXPECT_EQ(found.findings[0].strength, Strength::cascade);
  EXPECT_EQ(classify_log(*matcher, "[rank1]: MyError: y\n").crash_class(), "data");
  EXPECT_FALSE(classify_log(*matcher, "MyError: y\ntick 1\ntick 2\ntick 3\n").failed);
}

TEST_F(RuleFile, ProblemsOfTheNewKeysHaveTheirPlaceToo) {
  EXPECT_THAT(error("rules:\n  - {id: x, class: hang, match: [a, '(b']}\n"),
              HasSubstr("r.yaml:2:37: rules[0].match: not a valid regular expression"));
  EXPECT_THAT(error("rules:\n  - {id: x, class: hang, match: []}\n"),
              HasSubstr("expected 1 to 100 patterns"));
  EXPECT_THAT(error("rules:\n  - {id: x, class: hang, match: {a: b}}\n"),
              HasSubstr("expected a pattern, found a map"));
  EXPECT_THAT(error("rules:\n  - {id: x, class: hang, match: a, strength: strong}\n"),
              HasSubstr("expected one of cause, symptom, cascade, hint"));
  EXPECT_THAT(error("rules:\n  - {id: x, class: hang, match: a, in: file}\n"),
              HasSubstr("expected one of line, exception, message"));
}

TEST_F(RuleFile, AMissingFileIsAnError) {
  const auto matcher = LogMatcher::load(folder_ / "none.yaml");
  ASSERT_FALSE(matcher);
  EXPECT_THAT(matcher.error().message(), HasSubstr("No such file"));
}

TEST_F(RuleFile, APatternThatExplodesIsBounded) {
  EXPECT_THAT(error("rules:\n  - {id: x, class: hang, match: '((a{1,1000}){1,1000}){1,1000}'}\n"),
              HasSubstr("not a valid regular expression"));
  EXPECT_THAT(error("rules:\n  - {id: x, class: hang, match: '" + std::string(3000, 'a') + "'}\n"),
              HasSubstr("longer than 2000 bytes"));
}

}  // namespace
}  // namespace trainward::rules
