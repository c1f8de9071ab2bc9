// AdamW with decoupled weight decay, bias correction, parameter groups and clipping by the global
// gradient norm.
//
// Works on flat arrays the caller owns; a group is a range of them with a learning rate of its own.
// Per step: add_to_norm() for each piece of the gradient as it becomes ready, still warm in the
// cache; then step(), which clips, updates and rounds to bf16 in one pass over memory. Sums run
// over fixed chunks in double precision and every element is updated on its own, so the bits do not
// depend on the number of threads. One thread uses it at a time; it allocates only when it is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trainer/optim/adamw_loops.hpp"
#include "trainer/optim/schedule.hpp"

namespace trainward::optim {

struct AdamWOptions {
  double weight_decay = 0.01;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double gradient_clip = 1.0;  // largest norm; 0 turns clipping off
  Schedule schedule{};         // of every group's rate
};

struct Group {
  std::size_t begin = 0;  // elements of the flat arrays
  std::size_t end = 0;
  double learning_rate = 0;
  bool decays = true;
};

struct FlatState {
  std::span<float> parameters;
  std::span<const float> gradients;
  std::span<float> mean;                 // exp_avg
  std::span<float> variance;             // exp_avg_sq
  std::span<std::uint16_t> packed = {};  // the parameters as bf16, to be written; or empty
};

class AdamW {
 public:
  AdamW(AdamWOptions options, std::vector<Group> groups, std::size_t largest_piece, int threads);

  // Pieces must come in the same order every step for the same bits.
  void add_to_norm(std::span<const float> gradient);
  // Of pieces held elsewhere.
  void add_squares(double sum) { sum_of_squares_ += sum; }
  // The L2 norm of all pieces since the last step.
  [[nodiscard]] double norm() const;

  // Step number `t` counts from 1. Forgets the norm.
  void step(const FlatState& state, std::int64_t t);
  void forget_norm() { sum_of_squares_ = 0; }

  // What step number `t` does with a group of that rate, given the norm so far.
  [[nodiscard]] AdamWFactors factors(double learning_rate, std::int64_t t,
                                     bool decays = true) const;

 private:
  AdamWOptions options_;
  std::vector<Group> groups_;
  int threads_;
  AdamWLoops loops_;
  std::vector<double> partial_;
  double sum_of_squares_ = 0;
};

}  // namespace trainward::optim
