// The built-in rules, compiled once for a suite.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "classify_log.hpp"

namespace trainward::rules {

class BuiltinMatcher : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto loaded = LogMatcher::load();
    ASSERT_TRUE(loaded) << loaded.error().message();
    matcher = std::make_unique<LogMatcher>(std::move(*loaded));
  }
  static void TearDownTestSuite() { matcher.reset(); }
  static Conclusion classify(std::string_view text, const Ending& ending = {}) {
    return classify_log(*matcher, text, ending);
  }
  static inline std::unique_ptr<LogMatcher> matcher;
};

}  // namespace trainward::rules
