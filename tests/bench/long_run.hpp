// A run of a million steps on record, for what is made of long runs.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "supervisor/record/store/store.hpp"
#include "temporary_folder.hpp"

namespace trainward::store {

inline constexpr std::int64_t attempts = 2'000;

inline void must(const Status& done) {
  if (done) return;
  fmt::print(stderr, "{}\n", done.error().message());
  std::abort();
}

inline constexpr std::int64_t many_steps = 1'000'000;

// A new database of a program "run" and its attempts. `attempt` fills in which steps one has,
// `step` what each of them came to; `behind` records what else there is of an attempt.
template <typename Attempt, typename Step, typename Behind>
Store recorded_run(const std::filesystem::path& file, Attempt attempt, Step step, Behind behind) {
  auto store = Store::open(file);
  if (!store) std::abort();
  auto transaction = store->begin();
  ProgramRow program;
  program.name = "run";
  must(store->put_program(program));
  for (std::int64_t number = 1; number <= attempts; ++number) {
    AttemptRow row;
    row.program = "run";
    row.number = number;
    row.intended_ms = row.started_ms = number * 600'000;
    row.ended_ms = row.started_ms + 500'000;
    row.cause = "device_oom";
    attempt(row);
    must(store->put_attempt(row));
    for (std::int64_t at = row.first_step; at <= row.last_step; ++at) {
      StepRow done;
      done.step = at;
      done.attempt = number;
      step(done, row);
      must(store->add_step("run", done));
    }
    behind(*store, row);
  }
  must(transaction->commit());
  return std::move(*store);
}

// A million steps in 2,000 attempts, each of which goes six steps back, with evaluations,
// checkpoints and spans of time.
inline Store long_run(const std::filesystem::path& file) {
  const auto attempt = [](AttemptRow& row) {
    constexpr std::int64_t each = many_steps / attempts;
    row.resume_step = std::max<std::int64_t>((row.number - 1) * each - 6, 0);
    row.first_step = row.resume_step + 1;
    row.last_step = row.number * each;
    row.kept_step = row.last_step - 6;
  };
  const auto step = [](StepRow& done, const AttemptRow& row) {
    done.loss = 2.5 + 1e-6 * static_cast<double>(done.step);
    done.grad_norm = 1.0;
    done.tokens = done.step * 4096;
    done.tokens_per_second = 4000;
    done.learning_rate = 1e-4;
    done.at_ms = row.started_ms + (done.step - row.first_step) * 1'000;
  };
  return recorded_run(file, attempt, step, [](Store& store, const AttemptRow& row) {
    must(store.add_evaluation("run", {row.kept_step, row.number, 2.6, row.ended_ms, 13.4}));
    must(store.put_checkpoint(
        "run", {std::to_string(row.kept_step), row.kept_step, row.number, 1,
                row.number + 3 > attempts ? "verified" : "pruned", "", row.ended_ms}));
    for (const char* phase : {"loading", "replaying", "stepping", "saving", "down"}) {
      must(store.add_span("run", {row.number, phase, "", row.started_ms, 100'000}));
    }
  });
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
