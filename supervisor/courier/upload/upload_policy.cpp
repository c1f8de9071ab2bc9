#include "supervisor/courier/upload/upload_policy.hpp"

#include <algorithm>
#include <utility>

namespace trainward::upload {
namespace {

constexpr std::int64_t minute_ms = 60'000;
constexpr int day_minutes = 1440;
// Commits of the daemon call sooner; this is for what it does not tell.
constexpr std::int64_t look_again_ms = 30 * minute_ms;
constexpr std::int64_t day_ms = day_minutes * minute_ms;

const Known* find(const std::vector<Known>& known, const Candidate& candidate) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const Known& one) {
    return one.name == candidate.name && one.step == candidate.step;
  });
  return found == known.end() ? nullptr : &*found;
}

bool is_begun(const Known& known) {
  return known.state == "sending" || known.state == "waiting" || known.state == "held";
}

// What is saved later is newer, of the same millisecond the later step.
using Age = std::pair<std::int64_t, std::int64_t>;
Age age_of(const Situation& s, std::int64_t saved_ms, std::int64_t step) {
  return {saved_ms > s.now_ms + day_ms ? 0 : saved_ms, step};
}
Age age_of(const Situation& s, const Candidate& candidate) {
  return age_of(s, candidate.at_ms, candidate.step);
}
Age age_of(const Situation& s, const Known& known) { return age_of(s, known.saved_ms, known.step); }

// Of what has gone up.
const Known* newest_done(const Situation& s) {
  const Known* newest = nullptr;
  for (const Known& one : s.known) {
    if (one.state != "done") continue;
    if (newest == nullptr || age_of(s, one) > age_of(s, *newest)) newest = &one;
  }
  return newest;
}

// When the candidate may go up by the rhythm; later than now: not yet.
std::optional<std::int64_t> due_ms(const Situation& s, const Candidate& candidate) {
  if (s.asked || s.leaving || candidate.milestone) return s.now_ms;
  if (s.cadence.milestones) return std::nullopt;
  const Known* before = newest_done(s);
  if (before == nullptr || before->began_ms > s.now_ms + day_ms) return s.now_ms;
  if (s.cadence.every_steps > 0) {
    // A run that was rolled back starts counting again.
    const bool back = candidate.step < before->step;
    const bool beyond =
        candidate.step / s.cadence.every_steps > before->step / s.cadence.every_steps;
    return back || beyond ? std::optional(s.now_ms) : std::nullopt;
  }
  return before->began_ms + s.cadence.every_ms;
}

// Of those that are not up: what is to be done with it now.
struct Open {
  const Candidate* candidate;
  const Known* known;  // null: it was never begun
  bool newest;         // of all that were saved
};

// What was saved again since under the same name is another one.
bool is_closed(const Situation& s, const Candidate& candidate, const Known& known) {
  if (candidate.at_ms > known.saved_ms) return false;
  if (known.state == "stale") return !candidate.milestone && !s.asked;
  const bool lacks_tag = s.has_tags && candidate.milestone && !known.milestone;
  return known.state == "done" && !(s.asked && known.damaged) && !lacks_tag;
}

// The newest first, by when they were saved: after a rollback that one has a smaller step. Without
// what is older than something that has gone up.
std::vector<Open> open_ones(const Situation& s) {
  Age newest;
  for (const Candidate& candidate : s.candidates) newest = std::max(newest, age_of(s, candidate));
  const Known* before = newest_done(s);
  std::vector<Open> out;
  for (const Candidate& candidate : s.candidates) {
    const Known* known = find(s.known, candidate);
    if (known != nullptr && is_closed(s, candidate, *known)) continue;
    const bool late = before != nullptr && age_of(s, *before) > age_of(s, candidate);
    if (late && !candidate.milestone) continue;
    out.push_back({&candidate, known, age_of(s, candidate) == newest});
  }
  std::stable_sort(out.begin(), out.end(), [&](const Open& a, const Open& b) {
    return age_of(s, *a.candidate) > age_of(s, *b.candidate);
  });
  return out;
}

bool worth_finishing(const Open& open) {
  const Known& known = *open.known;
  return open.newest || open.candidate->milestone ||
         (is_begun(known) && known.sent_bytes * 2 > known.bytes);
}

void mark_stale(const Situation& s, const std::vector<Open>& open, Decision& out) {
  for (const Known& known : s.known) {
    if (!is_begun(known) && known.state != "failed") continue;
    const auto found = std::find_if(open.begin(), open.end(),
                                    [&](const Open& one) { return one.known == &known; });
    if (found == open.end() || !worth_finishing(*found)) out.stale.push_back(known.name);
  }
}

}  // namespace

std::int64_t until_open_ms(const std::optional<orders::Window>& window, int minute) {
  if (!window) return 0;
  const auto since = [&](int from) { return (minute - from + day_minutes) % day_minutes; };
  const int length = (window->to - window->from + day_minutes) % day_minutes;
  if (since(window->from) < length) return 0;
  return (day_minutes - since(window->from)) * minute_ms;
}

Decision decide(const Situation& s) {
  Decision out;
  out.again_ms = s.now_ms + look_again_ms;
  const std::vector<Open> open = open_ones(s);
  mark_stale(s, open, out);

  const Candidate* chosen = nullptr;
  const auto later = [&](std::int64_t at_ms) { out.again_ms = std::min(out.again_ms, at_ms); };
  const auto consider = [&](const Open& one) {
    if (chosen != nullptr) return;
    const std::int64_t not_before = one.known == nullptr || s.asked ? 0 : one.known->next_ms;
    if (not_before > s.now_ms && not_before <= s.now_ms + day_ms) {
      out.waits = true;
      return later(not_before);
    }
    chosen = one.candidate;
  };
  // What has been begun comes before what has not.
  for (const Open& one : open) {
    if (one.known != nullptr && is_begun(*one.known) && worth_finishing(one)) consider(one);
  }
  for (const Open& one : open) {
    if (!one.newest && !one.candidate->milestone) continue;
    const auto due = due_ms(s, *one.candidate);
    if (!due) continue;
    if (*due > s.now_ms) {
      later(*due);
    } else {
      consider(one);
    }
  }
  if (chosen == nullptr) return out;
  out.next = *chosen;
  const Known* known = find(s.known, *chosen);
  const bool whenever = s.asked || (known != nullptr && known->asked);
  if (const auto wait = until_open_ms(s.window, s.minute_of_day); wait > 0 && !whenever) {
    out.held = true;
    later(s.now_ms + wait);
  }
  return out;
}

}  // namespace trainward::upload
