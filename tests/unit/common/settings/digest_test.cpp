// Which settings are part of a run's digest is what the table says.
#include <gtest/gtest.h>

#include "common/settings/worker_settings.hpp"

namespace trainward::settings {
namespace {

bool has_line(const Setting& setting, const WorkerSettings& values) {
  return ("\n" + digest_lines(values)).find(fmt::format("\n{}", setting.label)) !=
         std::string::npos;
}

TEST(SettingsDigest, LaterSettingsOnlyWhereTheyAreSet) {
  for (const Setting& setting : worker_settings) {
    const bool labelled = setting.digest == Digest::always || setting.digest == Digest::when_set;
    ASSERT_EQ(labelled, !setting.label.empty()) << setting.key;
    if (!labelled) continue;
    WorkerSettings values;
    EXPECT_EQ(has_line(setting, values), setting.digest == Digest::always) << setting.key;
    const std::string before = digest_lines(values);
    if (const auto* whole = std::get_if<Whole>(&setting.type)) {
      set(values, *whole, get(values, *whole) + 1);
    } else if (const auto* real = std::get_if<Real>(&setting.type)) {
      real->at.of(values) += 0.25;
    } else if (const auto* word = std::get_if<Word>(&setting.type)) {
      word->at.of(values) = word->words.back();
    } else if (const auto* choice = std::get_if<Choice>(&setting.type)) {
      choice->at.of(values) = RopeScaling::llama3;
    } else {
      const auto* flag = std::get_if<Flag>(&setting.type);
      ASSERT_NE(flag, nullptr) << setting.key << ": digest_lines() has no words for its type";
      flag->at.of(values) = !flag->at.of(values);
    }
    EXPECT_TRUE(has_line(setting, values)) << setting.key;
    EXPECT_NE(digest_lines(values), before) << setting.key;
  }
}

}  // namespace
}  // namespace trainward::settings
