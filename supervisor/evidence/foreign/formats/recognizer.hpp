// Tells from a program's own output, without being told how it looks, which steps it has done.
//
// In: lines of its standard output and its standard error, each in its order, as they come: what
// belongs together may be on both. Out: the core's events. Nothing is opened and no clock is read;
// the same lines give the same events, however they were cut.
// A format counts when it has proved itself (tracker.hpp, paired_bar.hpp); then one Noticed says
// so. The first that does is followed. Another takes over when it tells more and goes on from
// there, or when the first has fallen silent. What is no step but work all the same (bars of an
// evaluation, of an upload) is the phase `evaluate`, and what comes after the last step the phase
// `save`, so that neither is taken for a step that does not end. Bounded memory; time linear in the
// bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/evidence/foreign/formats/formats.hpp"
#include "supervisor/evidence/foreign/formats/paired_bar.hpp"
#include "supervisor/evidence/foreign/formats/tracker.hpp"
#include "supervisor/evidence/foreign/formats/unpaired_log.hpp"
#include "supervisor/evidence/foreign/terms/foreign_report.hpp"

namespace trainward::foreign {

class Recognizer {
 public:
  // `only`: the program's output is known to be this, and its first step counts. `resumed_from`:
  // the program was told to go on from this step; what it tells of earlier ones is not counted, for
  // it may count from its own start.
  explicit Recognizer(const Format* only = nullptr, std::int64_t resumed_from = 0);

  void take(std::string_view line, Events& events);
  // What a checkpoint says was logged, for lines that do not say of which step they are.
  void learn(const TrainerLog& log, Events& events);
  // No more lines.
  void end(Events& events);
  // One Noticed when the lines were many and none proved to be a step. `ended`: there are no more.
  void say_if_nothing(bool ended, Events& events);
  // So many steps are known already, and what told of them may be lost: lines that tell of fewer
  // are of later ones.
  void go_on_from(std::int64_t step);

  // Whose output it is; null: nothing has proved itself.
  [[nodiscard]] const Format* format() const { return active_; }
  [[nodiscard]] std::int64_t newest() const { return newest_; }
  // Losses are told, and by nothing of which step.
  [[nodiscard]] bool steps_are_unknown() const { return unknown_told_; }

 private:
  void take_step(const Read& read, Events& events);
  void follow(const Format& format, const std::vector<Step>& steps, Events& events);
  bool is_followed(const Format& format, const std::vector<Step>& steps, Events& events);
  void tell(const Step& step, Events& events);
  void too_early(std::int64_t step, Events& events);
  void evaluated(const Reading& reading, Events& events);
  void other_work(Events& events);
  void rest(std::string_view phase, Events& events);
  void introduce(const Format& format, const std::vector<Step>& steps, Events& events);
  Tracker& tracker(const Format& format);

  const Format* only_;
  std::int64_t resumed_from_;
  const Format* active_ = nullptr;
  std::vector<Tracker> trackers_;  // in the order of formats()
  PairedBar paired_;
  UnpairedLog unpaired_;
  std::int64_t newest_ = 0;
  std::int64_t floor_ = 0;  // known before anything was recognised
  std::size_t since_active_ = 0;
  std::size_t others_ = 0;
  std::size_t bad_losses_ = 0;
  std::optional<std::pair<std::int64_t, double>> last_evaluation_;
  bool told_ = false;  // of a step
  bool early_told_ = false;
  std::string_view resting_;  // the phase; empty: it trains
  bool unknown_told_ = false;
  std::size_t lines_ = 0;
  bool nothing_told_ = false;
  std::vector<const Format*> introduced_;
};

}  // namespace trainward::foreign
