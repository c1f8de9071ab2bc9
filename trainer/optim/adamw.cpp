#include "trainer/optim/adamw.hpp"

#include <algorithm>
#include <cmath>

namespace trainward::optim {
namespace {

constexpr std::size_t chunk = std::size_t{1} << 15;  // elements; a unit of work and of summation

std::size_t chunks_of(std::size_t elements) { return (elements + chunk - 1) / chunk; }

}  // namespace

AdamW::AdamW(AdamWOptions options, std::vector<Group> groups, std::size_t largest_piece,
             int threads)
    : options_(options),
      groups_(std::move(groups)),
      threads_(threads),
      loops_(adamw_loops()),
      partial_(chunks_of(largest_piece)) {}

void AdamW::add_to_norm(std::span<const float> gradient) {
  const auto chunks = static_cast<std::ptrdiff_t>(chunks_of(gradient.size()));
#pragma omp parallel for num_threads(threads_) schedule(static) if (chunks > 1)
  for (std::ptrdiff_t i = 0; i < chunks; ++i) {
    const std::size_t begin = static_cast<std::size_t>(i) * chunk;
    const std::size_t size = std::min(chunk, gradient.size() - begin);
    partial_[static_cast<std::size_t>(i)] =
        loops_.sum_of_squares(gradient.data() + begin, static_cast<std::ptrdiff_t>(size));
  }
  for (std::ptrdiff_t i = 0; i < chunks; ++i) {
    sum_of_squares_ += partial_[static_cast<std::size_t>(i)];
  }
}

double AdamW::norm() const { return std::sqrt(sum_of_squares_); }

AdamWFactors AdamW::factors(double learning_rate, std::int64_t t, bool decays) const {
  const auto step = static_cast<double>(t);
  const double rate = learning_rate * rate_factor(options_.schedule, t);
  double clip = 1;
  if (options_.gradient_clip > 0) clip = std::min(1.0, options_.gradient_clip / (norm() + 1e-6));
  AdamWFactors f{};
  f.keep = decays ? static_cast<float>(1 - rate * options_.weight_decay) : 1.0F;
  f.clip = static_cast<float>(clip);
  f.beta1 = static_cast<float>(options_.beta1);
  f.one_minus_beta1 = static_cast<float>(1 - options_.beta1);
  f.beta2 = static_cast<float>(options_.beta2);
  f.one_minus_beta2 = static_cast<float>(1 - options_.beta2);
  f.step_size = static_cast<float>(rate / (1 - std::pow(options_.beta1, step)));
  f.denominator = static_cast<float>(1 / std::sqrt(1 - std::pow(options_.beta2, step)));
  f.epsilon = static_cast<float>(options_.epsilon);
  return f;
}

void AdamW::step(const FlatState& state, std::int64_t t) {
  for (const Group& group : groups_) {
    const AdamWFactors f = factors(group.learning_rate, t, group.decays);
    const auto chunks = static_cast<std::ptrdiff_t>(chunks_of(group.end - group.begin));
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::ptrdiff_t i = 0; i < chunks; ++i) {
      const std::size_t begin = group.begin + static_cast<std::size_t>(i) * chunk;
      const std::size_t size = std::min(chunk, group.end - begin);
      loops_.update(state.parameters.data() + begin, state.gradients.data() + begin,
                    state.mean.data() + begin, state.variance.data() + begin,
                    state.packed.empty() ? nullptr : state.packed.data() + begin,
                    static_cast<std::ptrdiff_t>(size), f);
    }
  }
  forget_norm();
}

}  // namespace trainward::optim
