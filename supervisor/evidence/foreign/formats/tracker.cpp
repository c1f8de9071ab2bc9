#include "supervisor/evidence/foreign/formats/tracker.hpp"

#include <utility>

#include "common/protocol/protocol.hpp"

namespace trainward::foreign {
namespace {

// The end of an epoch is seldom printed to the last step, and its beginning not from the first.
bool begins_anew(const Reading& reading, const Reading& before) {
  if (!before.total || reading.total != before.total || reading.epoch) return false;
  return *before.step * 10 >= *before.total * 9 && *reading.step * 2 <= *reading.total;
}

bool is_later_epoch(const Reading& reading, const Reading& before) {
  return reading.epoch && before.epoch && *reading.epoch > *before.epoch;
}

}  // namespace

bool Tracker::is_later(const Reading& reading, const Reading& before) {
  if (is_later_epoch(reading, before)) return true;
  if (reading.epoch && before.epoch && *reading.epoch < *before.epoch) return false;
  return *reading.step > *before.step || begins_anew(reading, before);
}

std::int64_t Tracker::steps_between(const Reading& reading, const Reading& before) {
  if (begins_anew(reading, before)) return *before.total;
  if (!is_later_epoch(reading, before)) return 0;
  if (!reading.in_epoch && *reading.step > *before.step) return 0;  // it counts through
  if (!before.total) return *before.step;
  return *before.total * (*reading.epoch - *before.epoch);
}

void Tracker::name_epoch(Reading& reading) const {
  if (reading.epoch || !reading.in_epoch || !header_) return;
  reading.epoch = header_->epoch;
  reading.epochs = header_->epochs;
}

std::vector<Step> Tracker::take(const Reading& given) {
  Reading reading = given;
  name_epoch(reading);
  if (!reading.step || *reading.step > max_step || reading.epoch.value_or(0) > max_step) return {};
  std::vector<Step> steps;
  if (!proved_) {
    const bool fits = held_.empty() || held_.back().shape == reading.shape;
    if (!fits || (!held_.empty() && !is_later(reading, held_.back()))) {
      if (fits && *reading.step == *held_.back().step) return {};
      held_.clear();
    }
    held_.push_back(reading);
    if (held_.size() < proof_) return {};
    proved_ = true;
    for (const Reading& held : std::exchange(held_, {})) {
      if (auto step = count(held)) steps.push_back(*step);
    }
    return steps;
  }
  if (reading.shape != last_->shape || !is_later(reading, *last_)) return {};
  if (auto step = count(reading)) steps.push_back(*step);
  return steps;
}

bool Tracker::is_astray(const Reading& given) const {
  if (!last_ || !given.step) return false;
  Reading reading = given;
  name_epoch(reading);
  if (reading.epoch && last_->epoch && *reading.epoch < *last_->epoch) return true;
  return reading.shape != last_->shape || (!reading.epoch && *reading.step * 2 < *last_->step);
}

std::optional<Step> Tracker::count(const Reading& reading) {
  if (last_) {
    base_ += steps_between(reading, *last_);
  } else if (reading.epoch) {
    // Epochs are counted from 0 or from 1; a run that is resumed does not begin with the first.
    first_epoch_ = *reading.epoch <= 1 ? *reading.epoch : (reading.epochs ? 1 : 0);
    if (reading.in_epoch) base_ += reading.total.value_or(0) * (*reading.epoch - first_epoch_);
  }
  last_ = reading;
  const std::int64_t step = base_ + *reading.step;
  if (step <= newest_ || step > max_step) return std::nullopt;
  newest_ = step;
  const bool last_epoch =
      !reading.epoch || (reading.epochs && *reading.epoch - first_epoch_ + 1 >= *reading.epochs);
  const bool tells = reading.total && *reading.total >= *reading.step;
  return Step{step, reading.measures, tells ? base_ + *reading.total : 0, last_epoch};
}

void Tracker::go_on_from(std::int64_t step) {
  base_ += step - newest_;
  newest_ = step;
}

}  // namespace trainward::foreign
