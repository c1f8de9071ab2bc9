// The verdict on one text as one stream.
#pragma once

#include <string_view>

#include "supervisor/evidence/rules/log_classifier.hpp"

namespace trainward::rules {

inline Conclusion classify_log(const LogMatcher& matcher, std::string_view text,
                               const Ending& ending = {}, const ClassifierLimits& limits = {}) {
  LogClassifier classifier(matcher, limits);
  classifier.feed(text);
  return classifier.conclude(ending);
}

}  // namespace trainward::rules
