#include "trainer/generate/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace trainward::trainer {

std::int32_t sample(std::span<const float> logits, const Sampling& sampling, double uniform) {
  const auto logit = [&](std::int32_t token) {
    const float value = logits[static_cast<std::size_t>(token)];
    return std::isnan(value) ? -std::numeric_limits<float>::infinity() : value;
  };
  // The order of equals is that of their ids, so that the choice does not depend on the library.
  const auto likelier = [&](std::int32_t a, std::int32_t b) {
    return logit(a) != logit(b) ? logit(a) > logit(b) : a < b;
  };
  std::vector<std::int32_t> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  if (sampling.temperature <= 0) return *std::min_element(tokens.begin(), tokens.end(), likelier);

  if (sampling.top_k > 0 && static_cast<std::size_t>(sampling.top_k) < tokens.size()) {
    const auto end = tokens.begin() + sampling.top_k;
    std::nth_element(tokens.begin(), end, tokens.end(), likelier);
    tokens.erase(end, tokens.end());
  }
  std::sort(tokens.begin(), tokens.end(), likelier);
  std::vector<double> weights(tokens.size());
  const auto largest = static_cast<double>(logit(tokens.front()));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    weights[i] = std::exp((static_cast<double>(logit(tokens[i])) - largest) / sampling.temperature);
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double kept = 0;
  std::size_t count = 0;
  while (count < weights.size() && (count == 0 || kept < sampling.top_p * total)) {
    kept += weights[count++];
  }
  double left = uniform * kept;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    left -= weights[i];
    if (left < 0) return tokens[i];
  }
  return tokens[count - 1];
}

void penalise(std::span<float> logits, std::span<const std::int32_t> tokens, double penalty) {
  const auto by = static_cast<float>(penalty);
  std::vector<bool> done(logits.size());
  for (const std::int32_t token : tokens) {
    const auto i = static_cast<std::size_t>(token);
    if (token < 0 || i >= logits.size() || done[i]) continue;
    done[i] = true;
    logits[i] = logits[i] > 0 ? logits[i] / by : logits[i] * by;
  }
}

}  // namespace trainward::trainer
