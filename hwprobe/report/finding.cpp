#include "hwprobe/report/finding.hpp"

#include <algorithm>
#include <iterator>

namespace trainward::hwprobe {
namespace {

void merge(std::vector<Evidence>& into, Verdict& verdict, const std::vector<Finding>& sorted) {
  std::vector<Evidence> worse;
  std::vector<Evidence> lesser;
  for (const Finding& finding : sorted) {
    (finding.verdict > verdict ? worse : lesser).push_back(finding.evidence);
  }
  into.insert(into.begin(), worse.begin(), worse.end());
  into.insert(into.end(), lesser.begin(), lesser.end());
  for (const Finding& finding : sorted) verdict = std::max(verdict, finding.verdict);
}

}  // namespace

void add_findings(Board& board, Chip& chip, std::vector<Finding> findings) {
  if (findings.empty()) return;
  std::ranges::stable_sort(findings, std::ranges::greater(), &Finding::verdict);
  merge(chip.evidence, chip.verdict, findings);
  merge(board.evidence, board.verdict, findings);
}

}  // namespace trainward::hwprobe
