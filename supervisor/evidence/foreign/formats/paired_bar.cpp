#include "supervisor/evidence/foreign/formats/paired_bar.hpp"

#include <algorithm>
#include <utility>

#include "common/protocol/protocol.hpp"
#include "supervisor/evidence/foreign/formats/bar.hpp"

namespace trainward::foreign {
namespace {

constexpr std::size_t most_bars = 8;
constexpr std::size_t most_steps = 64;

std::uint64_t shape_without_words(std::optional<std::int64_t> total) {
  return label_shape("") * 31 + static_cast<std::uint64_t>(total.value_or(-1));
}

}  // namespace

bool PairedBar::may_be(const Reading& reading) const {
  if (chosen_) return reading.shape == chosen_->shape;
  return reading.step && reading.shape == shape_without_words(reading.total);
}

std::vector<Step> PairedBar::bar(const Reading& reading) {
  if (!reading.step || *reading.step > max_step || !may_be(reading)) return {};
  const std::int64_t raw = *reading.step;
  if (chosen_) {
    if (raw == last_raw_ && pending_ && !pending_known_) {
      logged_at(raw);
      pending_known_ = true;
    }
    if (raw <= last_raw_) return {};
    last_raw_ = raw;
    std::vector<Step> steps = flush();
    if (pending_) {
      if (!std::exchange(pending_known_, false)) logged_at(raw);
      steps.push_back(step_at(raw, *std::exchange(pending_, std::nullopt)));
    } else if (log_every_ > 0 && raw == last_log_ + log_every_) {
      held_ = raw;
    } else {
      steps.push_back(step_at(raw));
    }
    return steps;
  }
  if (auto late = drawn_late(reading); !late.empty()) return late;
  auto seen = std::find_if(bars_.begin(), bars_.end(),
                           [&](const Seen& bar) { return bar.shape == reading.shape; });
  if (seen == bars_.end()) {
    if (bars_.size() >= most_bars) bars_.pop_front();
    bars_.push_back({reading.shape, {}, false, 0, reading.total});
    seen = bars_.end() - 1;
  }
  // A bar that starts over is not training, or is another one.
  if (!seen->steps.empty() && raw < seen->steps.back())
    *seen = {reading.shape, {}, false, 0, reading.total};
  if (!seen->steps.empty() && raw == seen->steps.back()) return {};
  seen->moved = !seen->steps.empty();
  seen->steps.push_back(raw);
  if (seen->steps.size() > most_steps) seen->steps.pop_front();
  return {};
}

std::vector<Step> PairedBar::drawn_late(const Reading& reading) {
  if (!ended_ || reading.shape != ended_->shape) return {};
  const std::int64_t before = ended_->steps.back();
  if (*reading.step <= before) {
    if (*reading.step < before) ended_.reset();  // another one
    return {};
  }
  ended_->steps.back() = *reading.step;
  newest_ = base_ += *reading.step - before;
  return {{newest_, {}, newest_, true}};
}

// The only one that moved, or the only one that moved each time.
const PairedBar::Seen* PairedBar::choose() const {
  const Seen* best = nullptr;
  int equals = 0;
  for (const Seen& bar : bars_) {
    if (!bar.moved) continue;
    if (best == nullptr || bar.votes > best->votes) {
      best = &bar;
      equals = 0;
    }
    if (bar.votes == best->votes) ++equals;
  }
  return equals == 1 ? best : nullptr;
}

std::vector<Step> PairedBar::measures(const StepFigures& measures) {
  lines_ = std::min(lines_ + 1, 2);
  if (chosen_) {
    if (held_) {
      logged_at(*held_);
      return {step_at(*std::exchange(held_, std::nullopt), measures)};
    }
    pending_ = measures;
    pending_known_ = false;
    return {};
  }
  for (Seen& bar : bars_) bar.votes += bar.moved ? 1 : 0;
  if (const Seen* found = choose()) {
    chosen_ = *found;
    bars_.clear();
    std::vector<Step> steps;
    for (const std::int64_t raw : chosen_->steps) {
      if (raw > 0) steps.push_back(step_at(raw));
    }
    last_raw_ = chosen_->steps.back();
    logged_at(last_raw_);
    if (!steps.empty()) steps.back().measures = measures;
    return steps;
  }
  for (Seen& bar : bars_) bar.moved = false;
  return {};
}

void PairedBar::logged_at(std::int64_t raw) {
  if (last_log_ > 0 && raw > last_log_) log_every_ = raw - last_log_;
  last_log_ = raw;
}

Step PairedBar::step_at(std::int64_t raw, const StepFigures& measures) {
  newest_ = base_ + raw;
  const bool tells = chosen_ && chosen_->total && *chosen_->total >= raw;
  return {newest_, measures, tells ? base_ + *chosen_->total : 0, true};
}

std::vector<Step> PairedBar::flush() {
  if (!held_) return {};
  return {step_at(*std::exchange(held_, std::nullopt))};
}

void PairedBar::finish() {
  ended_ = std::exchange(chosen_, std::nullopt);
  if (ended_) ended_->steps = {last_raw_};
  bars_.clear();
  held_.reset();
  pending_.reset();
  lines_ = 0;
  last_raw_ = last_log_ = log_every_ = 0;
  base_ = newest_;
}

void PairedBar::go_on_from(std::int64_t step) {
  base_ += step - newest_;
  newest_ = step;
}

}  // namespace trainward::foreign
