#include "supervisor/decide/core/cause.hpp"

#include <fmt/format.h>

namespace trainward::core {

std::string ladder_text(Cause cause) {
  const CauseFacts& row = facts(cause);
  if (row.then == Then::give_up) return "stop at once";
  if (row.then == Then::at_once) return "start again at once";
  if (row.then == Then::rest) return "nothing";
  if (row.ladder == ladders::wait) return "retry, waiting longer each time";
  std::string text;
  for (const Remedy* rung = row.ladder.begin(); rung != row.ladder.end();) {
    const Remedy* const next =
        std::find_if(rung, row.ladder.end(), [&](Remedy remedy) { return remedy != *rung; });
    const auto times = next - rung;
    // Without proof that nothing changes, the end is not to stop but to go on until a budget is
    // spent.
    if (*rung != Remedy::stop || row.hopeless) {
      if (!text.empty()) text += ", ";
      text += facts(*rung).words;
      if (times == 2) text += ", again";
      if (times > 2) text += fmt::format(" ({} times)", times);
    }
    rung = next;
  }
  return text;
}

}  // namespace trainward::core
