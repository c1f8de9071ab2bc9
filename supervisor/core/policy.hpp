// What the operator allows and expects of one program: the numbers the core decides by.
#pragma once

#include <cstdint>

namespace trainward::core {

enum class Autorestart { always, unexpected, never };

// A phase that shows no progress for this long is a hang. Milliseconds.
struct Deadlines {
  std::int64_t start_ms = 60'000;  // launch until the worker's first message
  std::int64_t load_ms = 600'000;
  std::int64_t compile_ms = 7'200'000;   // 19 to 80 minutes are normal on an N300
  std::int64_t train_floor_ms = 60'000;  // learned from the run's own steps, never below this
  std::int64_t save_ms = 900'000;
  std::int64_t stop_ms = 60'000;  // SIGTERM until SIGKILL
  friend bool operator==(const Deadlines&, const Deadlines&) = default;
};

struct Budgets {
  int attempts = 1000;                // in all
  int attempts_without_progress = 5;  // in a row without a new verified step
  friend bool operator==(const Budgets&, const Budgets&) = default;
};

// Between attempts that made no progress; doubles, with jitter. None after progress.
struct Backoff {
  std::int64_t first_ms = 1'000;
  std::int64_t max_ms = 300'000;
  friend bool operator==(const Backoff&, const Backoff&) = default;
};

struct Policy {
  Autorestart autorestart = Autorestart::unexpected;
  bool needs_board = false;  // probe first, and run only on a board found usable
  Deadlines deadlines;
  Budgets budgets;
  Backoff backoff;
};

}  // namespace trainward::core
