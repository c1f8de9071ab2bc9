#include "supervisor/decide/core/loss_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trainward::core {
namespace {

constexpr std::size_t remembered = 64;
constexpr std::size_t enough = 32;
constexpr int patience = 5;
constexpr double scatters = 8.0;
constexpr double share = 0.5;
constexpr double noticeable = 0.02;  // of the largest

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double scatter(const std::vector<double>& values, double centre) {
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - centre));
  return median(std::move(distances));
}

}  // namespace

std::optional<LossTrouble> watch_loss(LossWatch& watch, Step step, double loss,
                                      bool spikes_matter) {
  if (!std::isfinite(loss)) {
    return LossTrouble{Cause::nan, step, fmt::format("the loss of step {} is {}", step, loss)};
  }
  if (!spikes_matter) return std::nullopt;
  const double highest_fine = watch.recent.empty() ? loss : watch.usual_limit;
  const bool high = watch.recent.size() >= enough && loss > highest_fine;
  if (!high) {
    watch.high = 0;
    if (watch.recent.size() >= remembered) watch.recent.erase(watch.recent.begin());
    watch.recent.push_back(loss);
    watch.largest = std::max(watch.largest, std::abs(loss));
    // The limit moves slowly, so it is worked out now and then and not at each of a million steps.
    if (watch.recent.size() < enough || ++watch.since_limit < 8) return std::nullopt;
    watch.since_limit = 0;
    const double centre = median(watch.recent);
    watch.usual_limit = centre + std::max({scatters * scatter(watch.recent, centre),
                                           share * std::abs(centre), noticeable * watch.largest});
    return std::nullopt;
  }
  if (watch.high++ == 0) watch.high_since = step;
  if (watch.high < patience) return std::nullopt;
  return LossTrouble{Cause::loss_spike, watch.high_since,
                     fmt::format("the loss has been above {:.4g} since step {} and is {:.4g} now; "
                                 "it used to be about {:.4g}",
                                 highest_fine, watch.high_since, loss, median(watch.recent))};
}

}  // namespace trainward::core
