// Random histories of crashes and resumes, put into a run database step by step, and what of them
// is to be seen in the end.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>

#include "common/base/json/json.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::tracking {

inline constexpr std::int64_t epoch_ms = 1'763'675'000'000;

template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  return std::move(*result);
}
inline void must(const Status& status) {
  if (!status) throw std::runtime_error(status.error().message());
}

class History {
 public:
  History(store::Store& store, std::string program, std::uint64_t seed)
      : store_(store), program_(std::move(program)), random_(seed) {
    must(store_.put_program({program_, "RUNNING", "training", "d", "{}", epoch_ms, target_}));
    must(must(store_.begin(store::Store::Survives::process)).commit());  // no fsync from here on
    told_ = chance(2);
    counts_from_zero_ = !told_ && chance(4);
  }

  // Something happens. False: the run is done.
  bool go_on() {
    if (done_) return false;
    if (!running_) {
      begin();
    } else {
      step();
    }
    return !done_;
  }

  // By step, as the newest attempt that did it had it.
  std::map<std::int64_t, double> losses, evaluations;
  std::set<std::int64_t> without_loss;  // in any attempt
  [[nodiscard]] std::int64_t attempts() const { return attempt_.number; }
  [[nodiscard]] std::int64_t target() const { return target_; }
  [[nodiscard]] std::int64_t now_ms() const { return now_ms_; }
  std::mt19937_64& random() { return random_; }
  bool chance(std::uint64_t of) { return random_() % of == 0; }
  // The newest checkpoint.
  [[nodiscard]] std::int64_t kept() const { return kept_; }

 private:
  void begin() {
    attempt_ = {};
    attempt_.program = program_;
    attempt_.number = ++number_;
    attempt_.nonce = "n" + std::to_string(number_);
    attempt_.intended_ms = now_ms_;
    attempt_.started_ms = now_ms_ += chance(3) ? 0 : 300;
    attempt_.told_to_resume = told_;
    // Mostly the newest checkpoint; now and then an older one.
    at_ = chance(5) && kept_ > 0 ? static_cast<std::int64_t>(random_() % (kept_ + 1)) : kept_;
    attempt_.resume_step = told_ ? at_ : 0;
    must(store_.put_attempt(attempt_));
    running_ = true;
    hopeless_ = chance(6);
    // What it goes on from may be looked at before the first step.
    if (at_ > 0 && at_ % 7 == 0 && chance(2)) evaluate(at_);
  }

  void step() {
    now_ms_ += static_cast<std::int64_t>(random_() % 2000);
    if (hopeless_ || chance(25)) return crash("device_oom");
    const std::int64_t step = counts_from_zero_ && at_ == 0 && !zero_done_ ? 0 : at_ + 1;
    zero_done_ = true;
    at_ = step;
    store::StepRow row;
    row.step = step;
    row.attempt = number_;
    if (attempt_.first_step == 0 || !chance(20))
      row.loss = static_cast<double>(number_) * 1000 + static_cast<double>(step);
    if (chance(2)) row.grad_norm = 1;
    row.at_ms = now_ms_;
    must(store_.add_step(program_, row));
    if (row.loss) {
      losses[step] = *row.loss;
    } else {
      losses.erase(step);
      without_loss.insert(step);
    }
    attempt_.last_step = step;
    if (attempt_.first_step == 0) attempt_.first_step = step;
    if (step % 7 == 0) evaluate(step);
    if (step % 5 == 0 && chance(2)) keep(step);
    if (step >= target_) crash("done");
  }

  // What an attempt goes on from has the loss that it had.
  void evaluate(std::int64_t step) {
    const auto known = evaluations.find(step);
    const bool again = attempt_.last_step == 0 && known != evaluations.end();
    const double loss = again
                            ? known->second
                            : static_cast<double>(number_) * 1000 + static_cast<double>(step) + 0.5;
    must(store_.add_evaluation(program_, {step, number_, loss, now_ms_}));
    evaluations[step] = loss;
  }

  void keep(std::int64_t step) {
    kept_ = step;
    must(store_.put_checkpoint(
        program_, {"/c/step-" + std::to_string(step), step, number_, 1, "verified", "", now_ms_}));
  }

  void crash(const std::string& cause) {
    attempt_.ended_ms = now_ms_ += 10;
    attempt_.cause = cause;
    attempt_.verdict = "It ended.";
    attempt_.kept_step = kept_;
    must(store_.put_attempt(attempt_));
    must(store_.add_span(program_, {number_, "stepping", "", attempt_.started_ms,
                                    attempt_.ended_ms - attempt_.started_ms}));
    running_ = false;
    done_ = cause == "done";
    if (done_) {
      must(store_.put_program({program_, "EXITED", "done", "d", "{}", now_ms_, target_}));
    }
  }

  store::Store& store_;
  std::string program_;
  std::mt19937_64 random_;
  const std::int64_t target_ = 60;
  bool told_ = true;
  bool counts_from_zero_ = false;
  bool zero_done_ = false;
  bool running_ = false;
  bool hopeless_ = false;
  bool done_ = false;
  std::int64_t number_ = 0;
  std::int64_t at_ = 0;
  std::int64_t kept_ = 0;
  std::int64_t now_ms_ = epoch_ms;
  store::AttemptRow attempt_;
};

inline json::object by_step(const std::map<std::int64_t, double>& values) {
  json::object out;
  for (const auto& [step, value] : values) out[std::to_string(step)] = value;
  return out;
}

}  // namespace trainward::tracking
