#include "supervisor/decide/sim/shrink.hpp"

#include <algorithm>

namespace trainward::sim {
namespace {

class Shrinker {
 public:
  Shrinker(Scenario failing, Promise promise, const Trial& trial, int most_trials)
      : best_(std::move(failing)), promise_(promise), trial_(trial), left_(most_trials) {}

  Scenario run() {
    cut_the_end();
    drop_faults();
    usual_setup();
    simpler_faults();
    drop_faults();
    cut_the_end();
    return best_;
  }

 private:
  bool keep_if_failing(Scenario smaller) {
    if (left_-- <= 0) return false;
    const auto violation = trial_(smaller);
    if (!violation || violation->promise != promise_) return false;
    at_ms_ = violation->at_ms;
    best_ = std::move(smaller);
    return true;
  }

  // Nothing after the failure matters.
  void cut_the_end() {
    if (at_ms_ == 0 && !keep_if_failing(best_)) return;
    Scenario shorter = best_;
    shorter.setup.horizon_ms = std::min(at_ms_ + second_ms, best_.setup.horizon_ms);
    shorter.setup.quiet_ms = std::min(shorter.setup.quiet_ms, shorter.setup.horizon_ms);
    std::erase_if(shorter.injections,
                  [&](const Injection& i) { return i.at_ms > shorter.setup.horizon_ms; });
    keep_if_failing(std::move(shorter));
  }

  // Ever smaller runs of neighbours are left out.
  void drop_faults() {
    for (std::size_t length = std::max<std::size_t>(best_.injections.size() / 2, 1);; length /= 2) {
      for (std::size_t at = 0; at < best_.injections.size();) {
        Scenario fewer = best_;
        const auto begin = fewer.injections.begin() + static_cast<std::ptrdiff_t>(at);
        const std::size_t taken = std::min(length, fewer.injections.size() - at);
        fewer.injections.erase(begin, begin + static_cast<std::ptrdiff_t>(taken));
        if (!keep_if_failing(std::move(fewer))) at += length;
        if (left_ <= 0) return;
      }
      if (length <= 1) return;
    }
  }

  void usual_setup() {
    std::vector<std::int64_t> usual;
    const Setup as_usual;
    fields(as_usual,
           [&](const char* /*name*/, const std::int64_t& value) { usual.push_back(value); });
    for (std::size_t field = 1; field < usual.size(); ++field) {  // the seed stays
      Scenario plainer = best_;
      std::size_t i = 0;
      bool changes = false;
      fields(plainer.setup, [&](const char* name, std::int64_t& value) {
        const bool time =
            std::string_view(name) == "horizon_ms" || std::string_view(name) == "quiet_ms";
        if (i == field && !time && value != usual[i]) {
          value = usual[i];
          changes = true;
        }
        ++i;
      });
      if (changes) keep_if_failing(std::move(plainer));
    }
  }

  void simpler_faults() {
    for (std::size_t i = 0; i < best_.injections.size(); ++i) {
      if (best_.injections[i].moment != Moment::any) {
        Scenario simpler = best_;
        simpler.injections[i].moment = Moment::any;
        keep_if_failing(std::move(simpler));
      }
      if (best_.injections[i].amount > minute_ms) {
        Scenario simpler = best_;
        simpler.injections[i].amount = minute_ms;
        keep_if_failing(std::move(simpler));
      }
    }
  }

  Scenario best_;
  Promise promise_;
  const Trial& trial_;
  int left_;
  std::int64_t at_ms_ = 0;
};

}  // namespace

Scenario shrink(Scenario failing, Promise promise, const Trial& trial, int most_trials) {
  return Shrinker(std::move(failing), promise, trial, most_trials).run();
}

}  // namespace trainward::sim
