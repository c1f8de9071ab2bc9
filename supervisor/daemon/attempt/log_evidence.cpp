#include "supervisor/daemon/attempt/log_evidence.hpp"

#include "common/wire/launch.hpp"
#include "common/wire/log_files.hpp"
#include "supervisor/rules/last_words.hpp"
#include "supervisor/rules/log_classifier.hpp"

namespace trainward::daemon {
namespace {

// A root may lie far above its cascade; more than this would hold the next attempt up.
constexpr std::int64_t looked_at_bytes = 1024 * 1024;

constexpr const char* streams[] = {attempt_files::standard_error, attempt_files::standard_output};

}  // namespace

std::string read_tail(const std::filesystem::path& file, std::int64_t limit) {
  auto range = read_log(file, -limit, limit);
  return range ? std::move(range->bytes) : std::string();
}

bool logs_are_empty(const std::filesystem::path& attempt_folder) {
  for (const char* name : streams) {
    if (!read_tail(attempt_folder / name, 1).empty()) return false;
  }
  return true;
}

LogEvidence log_evidence(const std::filesystem::path& attempt_folder,
                         const rules::LogMatcher& matcher) {
  LogEvidence evidence;
  const auto place = [](int stream, std::int64_t line) {
    return fmt::format("{}:{}", streams[stream], line);
  };
  rules::LogClassifier classifier(matcher);
  for (int i = 0; i < 2; ++i) {
    const std::string text = read_tail(attempt_folder / streams[i], looked_at_bytes);
    classifier.feed(text, i);
    if (!evidence.last_words.line.empty()) continue;
    if (auto said = rules::last_words(matcher, text)) {
      evidence.last_words = {std::move(said->line), place(i, said->line_number)};
    }
  }
  for (const rules::Finding& finding : classifier.conclude().findings) {
    if (finding.overcome || finding.strength == rules::Strength::hint) continue;
    evidence.matches.push_back({finding.rule, finding.cause, finding.weight, finding.line,
                                place(finding.stream, finding.line_number)});
  }
  return evidence;
}

}  // namespace trainward::daemon
