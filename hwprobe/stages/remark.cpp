#include "hwprobe/stages/remark.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.hpp"
#include "common/terminal/display_text.hpp"

namespace trainward::hwprobe {
namespace {

// Texts in a report are no longer than this.
std::string short_of(std::string_view text) { return shortened(text, 300); }

std::string how_far(const StageResult& stage) {
  const std::string why = stage.detail.empty() ? "after " + human_duration(stage.took_ms)
                                               : "since " + short_of(stage.detail);
  const std::string last =
      stage.readings.empty()
          ? "nothing answered"
          : fmt::format("the last answer was '{}'", short_of(stage.readings.back().key));
  return fmt::format("the stage '{}' was not done {}; {}", short_of(stage.stage), why, last);
}

// DEGRADED is worse than UNKNOWN, but only the former is good enough for a run. Where a look was
// not finished, what little it found must not let one in.
bool outweighs(Verdict remark, Verdict known) {
  return remark >= known || (usable(known) && !usable(remark));
}

}  // namespace

void add(Board& board, const Remark& remark) {
  const bool first = outweighs(remark.verdict, board.verdict);
  if (first) board.verdict = remark.verdict;
  board.evidence.insert(first ? board.evidence.begin() : board.evidence.end(), remark.evidence);
  // R is reached through L only.
  for (Chip& chip : board.chips) {
    if (outweighs(remark.verdict, chip.verdict)) chip.verdict = remark.verdict;
  }
}

std::vector<Remark> remarks_on(const StageResult& stage) {
  switch (stage.ending) {
    case Ending::finished:
      return {};
    case Ending::failed:
    case Ending::crashed:
      return {{Verdict::unknown,
               {fmt::format("the stage '{}' of the look {}: {}", short_of(short_of(stage.stage)),
                            to_string(stage.ending), short_of(stage.detail)),
                "look again; if it stays, send a recording (trainward-probe --record FILE)"}}};
    case Ending::bus_error:
      return {{Verdict::resetting,
               {fmt::format("the board went away while the stage '{}' read it (SIGBUS)",
                            short_of(stage.stage)),
                "it is being reset: look again when that is done"}}};
    case Ending::deadline:
      return {{Verdict::unknown,
               {how_far(stage),
                "a reset or another program may hold the driver: look again, and see dmesg"}}};
    case Ending::stuck_in_kernel:
      return {{Verdict::stuck_in_kernel,
               {short_of(stage.detail), "wait for it to end; if it does not, reboot the host"}}};
    case Ending::locked:
      return {
          {Verdict::unknown, {short_of(stage.detail), "look again when the other probe is done"}}};
    case Ending::not_started:
      return {{Verdict::unknown,
               {fmt::format("the look could not begin: {}", short_of(stage.detail)),
                "check the folder of the probe's state (--state FOLDER)"}}};
  }
  return {};
}

}  // namespace trainward::hwprobe
