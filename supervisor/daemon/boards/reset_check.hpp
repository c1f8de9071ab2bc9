// Whether a reset has given a board back as it was. Pure.
//
// A reset command may report success with the board gone from the bus, or with links that stay down
// (tt-umd #2316, tt-smi #233), so a look decides: the board is usable, has the chips it had, and
// every link that was up is up again. Links and the far chip take up to three minutes after a
// reset, everything else two: until then what is missing may still come.
#pragma once

#include <cstdint>
#include <string>

#include "hwprobe/report/report.hpp"

namespace trainward::daemon {

struct ResetCheck {
  enum class State { restored, not_yet, failed };
  State state = State::not_yet;
  std::string text;  // "OK, 2 chips, 2 links up", or what is missing
};

// `before`: the board when it was last seen, best of all when a program was placed on it; nullptr:
// it never was. `after`: nullptr when it is not in the report. `settle_ms`: how long links may
// take.
ResetCheck check_reset(const hwprobe::Board* before, const hwprobe::Board* after,
                       std::int64_t since_reset_ms, std::int64_t settle_ms);

}  // namespace trainward::daemon
