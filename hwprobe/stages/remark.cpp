#include "hwprobe/stages/remark.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/terminal/display_text.hpp"
#include "common/text.hpp"

namespace trainward::hwprobe {
namespace {

// A report holds no longer texts, and nobody reads them.
std::string short_of(std::string_view text) { return shortened(text, 300); }

}  // namespace

void add(Board& board, const Remark& remark) {
  const bool worst = remark.verdict >= board.verdict;
  board.verdict = std::max(board.verdict, remark.verdict);
  board.evidence.insert(worst ? board.evidence.begin() : board.evidence.end(), remark.evidence);
  // R is reached through L only.
  for (Chip& chip : board.chips) chip.verdict = std::max(chip.verdict, remark.verdict);
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
      return {
          {Verdict::unknown,
           {fmt::format("the stage '{}' was not done after {}{}", short_of(short_of(stage.stage)),
                        human_duration(stage.took_ms),
                        stage.readings.empty() ? ": nothing answered"
                                               : fmt::format("; the last answer was '{}'",
                                                             short_of(stage.readings.back().key))),
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
