#include "supervisor/courier/jobs/channels/wellness.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.hpp"
#include "supervisor/decide/core/shown.hpp"

namespace trainward::courier {

using core::Shown;

Result<Wellness> wellness(const store::Store& store, std::int64_t now_ms,
                          std::int64_t progress_within_ms) {
  const auto snapshot = store.snapshot();
  auto programs = store.programs();
  if (!programs) return propagate(programs);
  Wellness out{true, ""};
  for (const store::ProgramRow& program : *programs) {
    const Shown shown = core::shown_from(program.state);
    const auto say = [&](bool well, const std::string& words) {
      // The first that is not well is what is said.
      if (!out.well) return;
      const std::string line = fmt::format("{}: {}", clean(program.name), words);
      out.words = well && !out.words.empty() ? out.words + "; " + line : line;
      out.well = well;
    };
    if (shown == Shown::fatal || shown == Shown::unkillable) {
      say(false, clean(program.state));
      continue;
    }
    if (shown == Shown::stopped || shown == Shown::stopping || shown == Shown::exited) {
      say(true, lower_case(program.state));
      continue;
    }
    auto progress = store.progress_ms(program.name);
    if (!progress) return propagate(progress);
    auto kept = store.newest_checkpoint(program.name);
    if (!kept) return propagate(kept);
    const std::int64_t age = now_ms - std::max(*progress, std::int64_t{0});
    if (age > progress_within_ms) {
      say(false, fmt::format("nothing new was kept for {}", human_duration(age)));
    } else {
      say(true, *kept > 0 ? fmt::format("step {} is kept", *kept) : "began not long ago");
    }
  }
  if (out.words.empty()) out.words = "there is no program";
  return out;
}

}  // namespace trainward::courier
