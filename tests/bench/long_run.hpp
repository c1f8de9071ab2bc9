// A run of a million steps on record, for what is made of long runs.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "supervisor/store/store.hpp"
#include "temporary_folder.hpp"

namespace trainward::store {

inline constexpr std::int64_t attempts = 2'000;

inline void must(const Status& done) {
  if (done) return;
  fmt::print(stderr, "{}\n", done.error().message());
  std::abort();
}

inline constexpr std::int64_t many_steps = 1'000'000;

// A million steps in 2,000 attempts, each of which goes six steps back, with evaluations,
// checkpoints and spans of time.
inline Store long_run(const std::filesystem::path& file) {
  auto store = Store::open(file);
  if (!store) std::abort();
  auto transaction = store->begin();
  ProgramRow program;
  program.name = "run";
  must(store->put_program(program));
  constexpr std::int64_t each = many_steps / attempts;
  for (std::int64_t number = 1; number <= attempts; ++number) {
    AttemptRow row;
    row.program = "run";
    row.number = number;
    row.intended_ms = row.started_ms = number * 600'000;
    row.ended_ms = row.started_ms + 500'000;
    row.resume_step = std::max<std::int64_t>((number - 1) * each - 6, 0);
    row.first_step = row.resume_step + 1;
    row.last_step = number * each;
    row.kept_step = row.last_step - 6;
    row.cause = "device_oom";
    must(store->put_attempt(row));
    for (std::int64_t step = row.first_step; step <= row.last_step; ++step) {
      StepRow done;
      done.step = step;
      done.attempt = number;
      done.loss = 2.5 + 1e-6 * static_cast<double>(step);
      done.grad_norm = 1.0;
      done.tokens = step * 4096;
      done.tokens_per_second = 4000;
      done.learning_rate = 1e-4;
      done.at_ms = row.started_ms + (step - row.first_step) * 1'000;
      must(store->add_step("run", done));
    }
    must(store->add_evaluation("run", {row.kept_step, number, 2.6, row.ended_ms, 13.4}));
    must(store->put_checkpoint("run",
                               {std::to_string(row.kept_step), row.kept_step, number, 1,
                                number + 3 > attempts ? "verified" : "pruned", "", row.ended_ms}));
    for (const char* phase : {"loading", "replaying", "stepping", "saving", "down"}) {
      must(store->add_span("run", {number, phase, "", row.started_ms, 100'000}));
    }
  }
  must(transaction->commit());
  return std::move(*store);
}

// Made once, and read by all.
inline const std::filesystem::path& long_file() {
  static const TemporaryFolder folder;
  static const std::filesystem::path file = [] {
    auto path = folder.path() / "run.db";
    (void)long_run(path);
    return path;
  }();
  return file;
}

}  // namespace trainward::store
