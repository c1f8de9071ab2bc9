#include "supervisor/evidence/foreign/formats/unpaired_log.hpp"

#include <algorithm>
#include <cmath>

namespace trainward::foreign {
namespace {

constexpr std::size_t most_lines = 256;

// Both are written from the same number; one of them may be rounded to four places.
bool same_loss(const StepFigures& line, const StepFigures& logged) {
  if (!line.loss || !logged.loss) return false;
  if (std::isnan(*line.loss) || std::isnan(*logged.loss)) {
    return std::isnan(*line.loss) && std::isnan(*logged.loss);
  }
  return std::abs(*line.loss - *logged.loss) <= 5.1e-5;
}

}  // namespace

Step UnpairedLog::next(const StepFigures& measures) {
  newest_ += every_;
  return {newest_, measures};
}

std::vector<Step> UnpairedLog::line(const StepFigures& measures) {
  if (!measures.loss) return {};
  ++count_;
  lines_.push_back(measures);
  if (lines_.size() > most_lines) lines_.pop_front();
  if (every_ == 0) return {};
  return {next(measures)};
}

std::vector<Step> UnpairedLog::learn(const TrainerLog& log) {
  if (log.steps.empty() || log.steps.back().step <= newest_) return {};
  const auto last = std::find_if(lines_.rbegin(), lines_.rend(), [&](const StepFigures& line) {
    return same_loss(line, log.steps.back().measures);
  });
  if (last == lines_.rend()) return {};
  const auto behind = static_cast<std::size_t>(last - lines_.rbegin());
  every_ = log.every;
  if (every_ == 0 && log.steps.size() > 1) {
    every_ = log.steps.back().step - log.steps[log.steps.size() - 2].step;
  }
  const std::size_t own = std::min(count_ - behind, log.steps.size());
  std::vector<Step> steps;
  for (std::size_t i = log.steps.size() - own; i < log.steps.size(); ++i) {
    if (log.steps[i].step > newest_) steps.push_back(log.steps[i]);
  }
  newest_ = log.steps.back().step;
  if (every_ > 0) {
    for (std::size_t i = lines_.size() - behind; i < lines_.size(); ++i) {
      steps.push_back(next(lines_[i]));
    }
  }
  return steps;
}

}  // namespace trainward::foreign
