#include "supervisor/evidence/foreign/formats/recognizer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace trainward::foreign {
namespace {

// Steps another format tells of while the one that is followed tells of none.
constexpr std::size_t fallen_silent = 16;
// Lines about other work in a row: a single bar is drawn for many reasons.
constexpr std::size_t enough_others = 3;
// Scaling of losses skips a step now and then; what stays not a number is trouble.
constexpr std::size_t enough_bad_losses = 3;
// Lines without a step, after which nobody should go on waiting for one: while the program runs (a
// start may be long), and when it has ended.
constexpr std::size_t enough_lines = 1000;
constexpr std::size_t enough_lines_in_all = 20;

std::size_t place_of(const Format& format) {
  return static_cast<std::size_t>(&format - formats().data());
}

const Format& huggingface() { return formats().front(); }

std::string what_is_told(const std::vector<Step>& steps) {
  std::vector<std::string_view> words{"step"};
  for (const StepFigure& figure : step_figures) {
    const bool told = std::ranges::any_of(
        steps, [&](const Step& step) { return value_of(step.measures, figure).has_value(); });
    if (told) words.push_back(figure.title);
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

Recognizer::Recognizer(const Format* only, std::int64_t resumed_from)
    : only_(only), resumed_from_(resumed_from) {
  for (const Format& format : formats()) {
    trackers_.emplace_back(only == nullptr ? format.proof : 1);
  }
}

Tracker& Recognizer::tracker(const Format& format) { return trackers_.at(place_of(format)); }

void Recognizer::take(std::string_view line, Events& events) {
  ++lines_;
  const auto read = read_line(line, only_);
  if (!read) return;
  const Reading& reading = read->reading;
  switch (reading.kind) {
    case Reading::Kind::step:
      return take_step(*read, events);
    case Reading::Kind::epoch:
      return tracker(*read->format).begin_epoch(reading);
    case Reading::Kind::evaluation:
      return evaluated(reading, events);
    case Reading::Kind::measures:
      follow(huggingface(), paired_.measures(reading.measures), events);
      if (!paired_.proved()) follow(huggingface(), unpaired_.line(reading.measures), events);
      if (!paired_.lacks_bar() || unknown_told_ || active_ != nullptr) return;
      unknown_told_ = true;
      events.emplace_back(core::Noticed{
          "watch", fmt::format("{} tells of losses, but not of which step they are: "
                               "its progress bar is off (disable_tqdm). They are known from its "
                               "first checkpoint on that watch.checkpoints finds",
                               huggingface().title)});
      return;
    case Reading::Kind::bar:
      if (!paired_.may_be(reading) || (active_ != nullptr && !paired_.proved())) other_work(events);
      return follow(huggingface(), paired_.bar(reading), events);
    case Reading::Kind::finished:
      follow(huggingface(), paired_.flush(), events);
      paired_.finish();
      if (active_ == &huggingface()) rest("save", events);
      return;
  }
}

void Recognizer::take_step(const Read& read, Events& events) {
  Tracker& tracked = tracker(*read.format);
  const bool astray = active_ == read.format && tracked.is_astray(read.reading);
  const auto steps = tracked.take(read.reading);
  follow(*read.format, steps, events);
  if (astray && steps.empty()) other_work(events);
  if (read.reading.held_out) evaluated(read.reading, events);
}

bool Recognizer::is_followed(const Format& format, const std::vector<Step>& steps, Events& events) {
  if (active_ == &format) {
    since_active_ = 0;
    return true;
  }
  const bool goes_on = steps.back().step > newest_;
  const bool more = active_ != nullptr && place_of(format) < place_of(*active_) && goes_on;
  if (active_ != nullptr && !more && ++since_active_ < fallen_silent) return false;
  const std::int64_t seen = std::max(newest_, floor_);
  if (!goes_on || steps.back().step <= floor_) {
    if (&format == &huggingface()) {
      paired_.go_on_from(seen);
    } else {
      tracker(format).go_on_from(seen);
    }
  }
  active_ = &format;
  since_active_ = 0;
  introduce(format, steps, events);
  return true;
}

void Recognizer::follow(const Format& format, const std::vector<Step>& steps, Events& events) {
  if (steps.empty() || !is_followed(format, steps, events)) return;
  for (const Step& step : steps) tell(step, events);
}

void Recognizer::introduce(const Format& format, const std::vector<Step>& steps, Events& events) {
  if (std::find(introduced_.begin(), introduced_.end(), &format) != introduced_.end()) return;
  introduced_.push_back(&format);
  std::string_view more;
  if (&format == &huggingface()) {
    more = paired_.proved() ? "; steps come from the progress bar"
                            : "; steps come from the log in its checkpoints";
  }
  if (format.name == "epochs") more = "; a step is an epoch";
  events.emplace_back(core::Noticed{
      "watch", fmt::format("recognised {}: {}{}", format.title, what_is_told(steps), more)});
}

void Recognizer::too_early(std::int64_t step, Events& events) {
  if (step == resumed_from_ || std::exchange(early_told_, true)) return;
  events.emplace_back(core::Noticed{
      "watch", fmt::format("the program tells of step {}, though it was to go on from step {}; its "
                           "steps count from there on",
                           step, resumed_from_)});
}

void Recognizer::tell(const Step& step, Events& events) {
  if (step.step <= std::max(newest_, floor_)) return;
  newest_ = step.step;
  if (step.step <= resumed_from_) return too_early(step.step, events);
  told_ = true;
  resting_ = {};
  others_ = 0;
  StepFigures told = plausible(step.measures);
  if (told.loss) bad_losses_ = std::isfinite(*told.loss) ? 0 : bad_losses_ + 1;
  if (told.loss && !std::isfinite(*told.loss) && bad_losses_ < enough_bad_losses) told.loss.reset();
  events.emplace_back(core::StepDone{{step.step}, told, {step.counter_end}, step.of_run});
  if (step.last()) rest("save", events);
}

// One for each step at most: the lines of an evaluation may be many.
void Recognizer::evaluated(const Reading& reading, Events& events) {
  if (!told_ || !reading.held_out) return;
  const bool own_line = reading.kind == Reading::Kind::evaluation;
  // A bar says its newest evaluation again and again.
  const bool again =
      last_evaluation_ && (last_evaluation_->first == newest_ ||
                           (!own_line && last_evaluation_->second == *reading.held_out));
  if (again || !std::isfinite(*reading.held_out)) {
    if (own_line) other_work(events);
    return;
  }
  last_evaluation_ = {newest_, *reading.held_out};
  const std::int64_t named = own_line ? reading.step.value_or(0) : 0;
  events.emplace_back(core::Evaluated{{std::max(named, newest_)}, *reading.held_out});
}

void Recognizer::other_work(Events& events) {
  if (!told_) return;
  if (!resting_.empty()) {
    events.emplace_back(core::Alive{});
  } else if (++others_ >= enough_others) {
    rest("evaluate", events);
  }
}

void Recognizer::rest(std::string_view phase, Events& events) {
  if (!told_ || resting_ == phase) return;
  resting_ = phase;
  events.emplace_back(core::PhaseEntered{std::string(phase)});
}

void Recognizer::learn(const TrainerLog& log, Events& events) {
  if (!paired_.proved()) follow(huggingface(), unpaired_.learn(log), events);
}

void Recognizer::say_if_nothing(bool ended, Events& events) {
  const std::size_t enough = ended ? enough_lines_in_all : enough_lines;
  if (active_ != nullptr || unknown_told_ || lines_ < enough) return;
  if (std::exchange(nothing_told_, true)) return;
  events.emplace_back(core::Noticed{
      "watch",
      fmt::format("no steps were recognised in {} lines of its output{}: it is looked after "
                  "without them. `trainwardctl watch FILE` shows what is read in a log, and "
                  "`watch: {{log: …}}` can say which lines are steps",
                  lines_, only_ == nullptr ? "" : fmt::format(" as {}", only_->title))});
}

void Recognizer::end(Events& events) { follow(huggingface(), paired_.flush(), events); }

void Recognizer::go_on_from(std::int64_t step) {
  if (newest_ >= step) return;
  floor_ = step;
  if (active_ == nullptr) return;
  if (active_ == &huggingface()) {
    paired_.go_on_from(step);
  } else {
    tracker(*active_).go_on_from(step);
  }
}

}  // namespace trainward::foreign
