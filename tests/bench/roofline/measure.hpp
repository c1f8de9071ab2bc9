// What this machine can do, and how long steps take, each measured in a process of its own: its
// peak of memory is not another's, and neither are its threads.
//
// A benchmark's tools: what goes wrong is printed, and ends it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "step_work.hpp"

namespace trainward::roofline {

template <typename T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().message().c_str());
  std::exit(1);
}
inline void must(const Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.error().message().c_str());
  std::exit(1);
}

struct Effort {
  int threads = 2;
  bool quick = false;  // to see that it works: small, and the figures mean little

  // For one measurement.
  [[nodiscard]] double seconds() const { return quick ? 0.05 : 1.5; }
};

// The numbers that `work` returns, from a child process.
std::vector<double> in_child(const std::function<std::vector<double>()>& work);

// How long each call takes, after one that is not counted: at least three, for effort.seconds().
std::vector<double> time_calls(const Effort& effort, const std::function<void()>& call);
double best_of(const std::vector<double>& seconds);
double median_of(std::vector<double> seconds);

struct Product {
  std::int64_t m = 0, k = 0, n = 0;
};
struct Rate {  // per second
  double median = 0;
  double best = 0;
};
// x[m, k] times w[n, k] transposed, f32, as the trainer's layers have it.
Rate product_flops(const Product& product, const Effort& effort);
// a = b + s c over arrays of `bytes` each; three times their size is counted.
Rate triad_bytes(std::size_t bytes, const Effort& effort);
// The optimizer's pass over as much; seven times the size is counted.
Rate adamw_bytes(std::size_t bytes, const Effort& effort);

struct StepTime {
  double median = 0;      // seconds
  double arena = 0;       // bytes of the model's buffers
  double peak_bytes = 0;  // resident at most, the whole process
};
// A step, and the size of the buffers, of what `make` makes in the child.
struct Stepper {
  std::function<void()> step;
  std::size_t arena_bytes = 0;
};
StepTime step_time(const Effort& effort, const std::function<Stepper()>& make);

// Of the largest cache of the first processor; 0: not known.
std::size_t cache_bytes();

}  // namespace trainward::roofline
