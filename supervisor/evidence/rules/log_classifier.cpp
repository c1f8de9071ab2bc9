#include "supervisor/evidence/rules/log_classifier.hpp"

#include "supervisor/evidence/rules/line_text.hpp"

namespace trainward::rules {
namespace {

// So many different progress lines after a finding, and training has overcome it: of a failed run
// other ranks may still print one, and a progress bar its last state.
constexpr std::int64_t enough_progress = 3;

constexpr std::int64_t longest_traceback = 500;  // lines
constexpr std::string_view traceback_head = "Traceback (most recent call last)";

}  // namespace

LogClassifier::LogClassifier(const LogMatcher& matcher, const ClassifierLimits& limits)
    : matcher_(&matcher), limits_(limits) {}

void LogClassifier::feed(std::string_view bytes, int stream) {
  Stream& target = streams_.try_emplace(stream, limits_.max_line_bytes).first->second;
  totals_.bytes += static_cast<std::int64_t>(bytes.size());
  target.lines.feed(
      bytes, [&](std::string_view line, std::int64_t number) { take_line(target, line, number); });
}

void LogClassifier::look_for_end(Stream& stream, std::string_view line, std::int64_t number) const {
  Series& series = stream.series[*stream.headed];
  if (number - series.line_number > longest_traceback) return stream.headed.reset();
  if (!line.starts_with(stream.head)) return;  // of another rank
  const std::string_view rest = line.substr(stream.head.size());
  if (rest.empty() || rest.front() == ' ' || rest.front() == '\t' || rest.front() == '\r') return;
  stream.headed.reset();
  if (rest.starts_with(traceback_head)) return;
  series.line = printable_line(line, limits_.max_kept_bytes);
  series.line_number = number;
}

void LogClassifier::take_line(Stream& stream, std::string_view line, std::int64_t number) {
  ++totals_.lines;
  if (stream.headed) look_for_end(stream, line, number);
  matcher_->candidates(line, candidates_);
  const bool may_be_traceback =
      !candidates_.empty() && candidates_.back() == matcher_->traceback_mark();
  if (stream.traceback.active() || may_be_traceback) {
    if (!stream.traceback.searchable(line)) return;
  }
  if (candidates_.empty()) return;
  const auto match = matcher_->match(line, candidates_);
  if (!match) return;
  switch (matcher_->rule(match->rule).kind) {
    case Kind::benign:
      if (totals_.benign++ == 0) totals_.benign_line = printable_line(line, limits_.max_kept_bytes);
      break;
    case Kind::fault:
      note(stream, *match, line, number);
      break;
    case Kind::finished:
      stream.progress += enough_progress;
      break;
    case Kind::progress:
      if (const auto mark = progress_mark(line); mark != stream.last_mark) {
        stream.last_mark = mark;
        ++stream.progress;
        ++totals_.progress;
      }
      break;
    case Kind::advice:
    case Kind::mask:
      break;
  }
}

void LogClassifier::note(Stream& stream, const LogMatcher::LineMatch& match, std::string_view line,
                         std::int64_t number) const {
  Series& series = stream.series[match.rule];
  const Strength strength = match.advised ? Strength::hint : matcher_->rule(match.rule).strength;
  const bool overcome = stream.progress - series.progress >= enough_progress;
  if (series.count == 0 || overcome || strength < series.strength) {
    series.strength = strength;
    series.line = printable_line(line, limits_.max_kept_bytes);
    series.line_number = number;
    if (const auto head = line.find(traceback_head); head != std::string_view::npos) {
      stream.headed = match.rule;
      stream.head = line.substr(0, head);
    }
  }
  series.last_line = number;
  series.progress = stream.progress;
  ++series.count;
}

Conclusion LogClassifier::conclude(const Ending& ending) {
  for (auto& entry : streams_) {
    Stream& stream = entry.second;
    stream.lines.finish(
        [&](std::string_view line, std::int64_t number) { take_line(stream, line, number); });
  }
  Conclusion conclusion = totals_;
  for (const auto& [number, stream] : streams_) {
    for (const auto& [id, series] : stream.series) {
      const Rule& rule = matcher_->rule(id);
      Finding finding;
      finding.rule = rule.id;
      finding.cause = rule.cause;
      finding.strength = series.strength;
      finding.advice = rule.advice;
      finding.line = series.line;
      finding.stream = number;
      finding.line_number = series.line_number;
      finding.last_line = series.last_line;
      finding.count = series.count;
      finding.overcome = stream.progress - series.progress >= enough_progress;
      finding.order = id;
      conclusion.findings.push_back(std::move(finding));
    }
  }
  rules::conclude(conclusion, ending, limits_.max_findings);
  return conclusion;
}

}  // namespace trainward::rules
