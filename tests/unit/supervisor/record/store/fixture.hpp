// A run made up by hand, small enough to check every number: three attempts of "trainer".
//
//   attempt 1, board B1, from step 0: steps 1 to 25, kept 24, out of device memory
//   attempt 2, board B1, from step 24: steps 25 (again) to 30, kept 28, hung, killed
//   attempt 3, board B1, from step 28: steps 29 (again) to 40, still running
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "supervisor/record/store/store.hpp"
#include "temporary_folder.hpp"

namespace trainward::store {

inline constexpr std::int64_t epoch_ms = 1'763'675'000'000;  // 2025-11-20T21:43:20Z

template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  return std::move(*result);
}
inline void must(const Status& status) {
  if (!status) throw std::runtime_error(status.error().message());
}

class StoreTest : public testing::Test {
 protected:
  [[nodiscard]] Store open() const { return must(Store::open(file_)); }

  static AttemptRow attempt(std::int64_t number, std::int64_t resume, std::int64_t first,
                            std::int64_t last, std::int64_t kept) {
    AttemptRow row;
    row.program = "trainer";
    row.number = number;
    row.nonce = "n" + std::to_string(number);
    row.board = "0000000000000001";
    row.boards = row.board;
    row.folder = "/state/attempts/" + std::to_string(number);
    row.intended_ms = epoch_ms + number * 100'000;
    row.started_ms = row.intended_ms + 500;
    row.pid = 4000 + number;
    row.resume_step = resume;
    row.first_step = first;
    row.last_step = last;
    row.kept_step = kept;
    return row;
  }

  static void add_steps(Store& store, std::int64_t number, std::int64_t from, std::int64_t to,
                        std::int64_t done_before) {
    for (std::int64_t step = from; step <= to; ++step) {
      StepRow row;
      row.step = step;
      row.attempt = number;
      row.loss = 5.7 - 0.05 * static_cast<double>(step);
      row.grad_norm = 1.0;
      row.tokens = step * 1000;
      row.tokens_per_second = 2000;
      row.at_ms = epoch_ms + number * 100'000 + step * 500;
      row.replayed = step <= done_before;
      must(store.add_step("trainer", row));
    }
  }

  static void fill(Store& store) {
    auto transaction = must(store.begin());
    must(
        store.put_program({"trainer", "RUNNING", "training", "d1", "{}", epoch_ms + 300'000, 300}));
    must(store.put_program({"idle", "STOPPED", "Not started", "d2", "{}", 0, 0}));

    AttemptRow first = attempt(1, 0, 1, 25, 24);
    first.ended_ms = first.started_ms + 60'000;
    first.exit_code = 1;
    first.cause = "device_oom";
    first.verdict = "The device ran out of memory at step 25.";
    must(store.put_attempt(first));
    must(store.add_evidence("trainer", 1, {"exit status", 40, "failed", "exit 1", ""}));
    must(store.add_evidence(
        "trainer", 1, {"log rule", 70, "device_oom", "Out of Memory: DRAM", "stderr.log:117"}));
    add_steps(store, 1, 1, 25, 0);

    AttemptRow second = attempt(2, 24, 25, 30, 28);
    second.ended_ms = second.started_ms + 90'000;
    second.exit_signal = 9;
    second.cause = "hang";
    second.verdict = "No progress in the phase train for 60 s.";
    second.resume_from = "step-00000024";
    must(store.put_attempt(second));
    must(store.add_evidence("trainer", 2, {"supervisor", 100, "hang", "killed by us", ""}));
    add_steps(store, 2, 25, 30, 25);

    must(store.put_attempt(attempt(3, 28, 29, 31, 0)));
    add_steps(store, 3, 29, 40, 30);

    // Every 12 steps; step 24 twice.
    must(store.add_evaluation("trainer", {12, 1, 5.25, epoch_ms + 110'000}));
    must(store.add_evaluation("trainer", {24, 1, 4.75, epoch_ms + 120'000}));
    must(store.add_evaluation("trainer", {24, 2, 4.5, epoch_ms + 220'000}));
    must(store.add_evaluation("trainer", {36, 3, 4.25, epoch_ms + 318'000, 70.1}));

    // Two prompts then; the second attempt said something else after step 24.
    const auto say = [&](std::int64_t step, std::int64_t number, const char* answer) {
      for (const char* prompt : {"p", "q"}) {
        must(store.add_sample("trainer", {step, number, prompt, answer, 2, "length", false,
                                          epoch_ms + number * 100'000 + step}));
      }
    };
    say(12, 1, "x");
    say(24, 1, "y");
    say(24, 2, "y\nagain");
    say(36, 3, "z");

    // The second attempt found all but one, which was damaged.
    must(store.add_compiled("trainer", {1, "head", "k1", false, 900, "", epoch_ms + 101'000}));
    must(store.add_compiled("trainer", {1, "embed", "k2", false, 100, "", epoch_ms + 102'000}));
    must(store.add_compiled("trainer", {2, "head", "k1", true, 9, "", epoch_ms + 201'000}));
    must(store.add_compiled("trainer",
                            {2, "embed", "k2", false, 110, "is cut short", epoch_ms + 202'000}));
    must(store.add_compiled("trainer", {3, "head", "k1", true, 8, "", epoch_ms + 301'000}));
    must(store.add_compiled("trainer", {3, "embed", "k2", true, 7, "", epoch_ms + 302'000}));

    must(store.put_checkpoint(
        "trainer", {"/c/step-00000024", 24, 1, 1 << 20, "verified", "", epoch_ms + 150'000}));
    must(store.put_checkpoint(
        "trainer", {"/c/step-00000036", 36, 3, 1 << 20, "verified", "", epoch_ms + 318'000}));

    must(store.add_span("trainer", {0, "probing", "", epoch_ms, 10'000}));
    must(store.add_span("trainer", {1, "loading", "", epoch_ms + 10'000, 20'000}));
    must(store.add_span("trainer", {1, "stepping", "", epoch_ms + 30'000, 50'000}));
    must(store.add_span("trainer", {2, "replaying", "device_oom", epoch_ms + 80'000, 5'000}));
    must(store.add_span("trainer", {2, "stepping", "", epoch_ms + 85'000, 10'000}));
    must(store.add_span("trainer", {0, "down", "hang", epoch_ms + 95'000, 5'000}));

    must(store.put_board("0000000000000001", "n300", "0000:c1:00.0", "OK", "", epoch_ms));
    must(store.put_board("0000000000000002", "n300", "0000:c2:00.0", "REMOTE_LOST",
                         "both on-board links are down", epoch_ms));
    must(store.add_event({0, epoch_ms, "trainer", 1, "launch", "attempt 1 on board 1"}));
    must(store.add_event({0, epoch_ms + 1, "", 0, "daemon", "started"}));
    must(store.add_event({0, epoch_ms + 2, "trainer", 1, "exit", "exit 1"}));
    must(transaction.commit());
  }

  TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
  std::filesystem::path file_ = folder_ / "trainward.db";
};

}  // namespace trainward::store
