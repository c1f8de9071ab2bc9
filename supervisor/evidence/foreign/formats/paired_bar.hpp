// Hugging Face's Trainer tells its losses in lines without a step, on one stream, and its steps by
// a progress bar, on the other. Which of all the bars is that of training, and which step a loss
// belongs to, is found out here.
//
// The bar of training has no words before it and moves between two such lines. Nothing counts
// before it is found; then what it had said so far does. The Trainer draws its bar before and after
// each such line, so a step at which one is due is held back until the line has come, or the next
// step. Memory: eight bars with the newest 64 steps of each.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "supervisor/evidence/foreign/formats/tracker.hpp"

namespace trainward::foreign {

class PairedBar {
 public:
  std::vector<Step> bar(const Reading& reading);
  std::vector<Step> measures(const StepFigures& measures);
  // The training is over; another may follow, with a bar of its own. What the old one still draws,
  // because the line that says so came faster on the other stream, counts.
  void finish();
  // A step that is still held back.
  std::vector<Step> flush();
  void go_on_from(std::int64_t step);

  [[nodiscard]] bool proved() const { return chosen_.has_value(); }
  // The bar of training, or one that may be.
  [[nodiscard]] bool may_be(const Reading& reading) const;
  // Lines came, and no bar at all.
  [[nodiscard]] bool lacks_bar() const { return lines_ >= 2 && bars_.empty() && !chosen_; }

 private:
  struct Seen {
    std::uint64_t shape = 0;
    std::deque<std::int64_t> steps;
    bool moved = false;  // since the line before
    int votes = 0;
    std::optional<std::int64_t> total;
  };
  const Seen* choose() const;
  std::vector<Step> drawn_late(const Reading& reading);
  void logged_at(std::int64_t raw);
  Step step_at(std::int64_t raw, const StepFigures& measures = {});

  std::deque<Seen> bars_;
  std::optional<Seen> chosen_;
  std::optional<Seen> ended_;  // the bar of a training that is over, with its newest step
  int lines_ = 0;
  std::optional<std::int64_t> held_;
  std::optional<StepFigures> pending_;  // of a step that is not drawn yet
  bool pending_known_ = false;          // its step was told already
  std::int64_t last_raw_ = 0;
  std::int64_t last_log_ = 0;
  std::int64_t log_every_ = 0;
  std::int64_t base_ = 0;
  std::int64_t newest_ = 0;
};

}  // namespace trainward::foreign
