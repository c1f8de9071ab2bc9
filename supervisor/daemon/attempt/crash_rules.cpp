#include "supervisor/daemon/attempt/crash_rules.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/text.hpp"
#include "common/wire/launch.hpp"
#include "common/wire/log_files.hpp"
#include "supervisor/evidence/rules/last_words.hpp"
#include "supervisor/evidence/rules/log_classifier.hpp"
#include "supervisor/evidence/rules/log_matcher.hpp"

namespace trainward::daemon {
namespace {

// A root may lie far above its cascade; more than this would hold the next attempt up.
constexpr std::int64_t looked_at_bytes = log_tail_bytes;

constexpr const char* streams[] = {attempt_files::standard_error, attempt_files::standard_output};

// What people are shown of a log: the newest lines with anything in them, oldest first.
std::vector<std::string> last_lines_of(std::string_view text) {
  constexpr std::size_t most_lines = 10;
  constexpr std::size_t most_bytes = 4096;
  if (text.size() > most_bytes) text.remove_prefix(text.size() - most_bytes);
  std::vector<std::string> lines;
  while (!text.empty() && lines.size() < most_lines) {
    const std::size_t end = text.find_last_of("\r\n");
    const std::string_view line = trim(end == std::string_view::npos ? text : text.substr(end + 1));
    if (!line.empty()) lines.emplace_back(line);
    text = end == std::string_view::npos ? std::string_view() : text.substr(0, end);
  }
  std::ranges::reverse(lines);
  return lines;
}

// True when neither log holds anything to read.
bool logs_are_empty(const std::filesystem::path& attempt_folder) {
  for (const char* name : streams) {
    if (!read_tail(attempt_folder / name, 1).empty()) return false;
  }
  return true;
}

// Looks at the last 1 MiB of stderr, then of stdout: runtimes report on stderr. Line numbers are
// those of the part that was read when the file is longer. A missing log is no evidence.
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
    if (evidence.last_lines.empty()) evidence.last_lines = last_lines_of(text);
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

}  // namespace

std::string read_tail(const std::filesystem::path& file, std::int64_t limit) {
  auto range = read_log(file, -limit, limit);
  return range ? std::move(range->bytes) : std::string();
}

struct CrashRules::Loaded {
  std::filesystem::path user_rules;
  std::once_flag once;
  std::optional<Result<rules::LogMatcher>> matcher;

  const Result<rules::LogMatcher>& get() {
    std::call_once(once, [this] { matcher.emplace(rules::LogMatcher::load(user_rules)); });
    return *matcher;
  }
};

CrashRules::CrashRules(std::filesystem::path user_rules) : loaded_(std::make_shared<Loaded>()) {
  loaded_->user_rules = std::move(user_rules);
}

Status CrashRules::check() const {
  if (loaded_->user_rules.empty()) return {};  // the built-in ones are tested; loading takes 0.1 s
  const auto& matcher = loaded_->get();
  if (!matcher) return tl::unexpected<Error>(matcher.error());
  for (const std::string& warning : matcher->warnings()) spdlog::warn("{}", warning);
  return {};
}

CrashRules::Reader CrashRules::reader() const {
  return [loaded = loaded_](const std::filesystem::path& folder) -> LogEvidence {
    if (logs_are_empty(folder)) return {};
    const auto& matcher = loaded->get();
    return matcher ? log_evidence(folder, *matcher) : LogEvidence{};
  };
}

}  // namespace trainward::daemon
