// The words of a message about a program: what ended, why, what was done, what it cost, whether
// anybody has to act, where to look.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/decide/core/state.hpp"
#include "supervisor/decide/notify/episode.hpp"
#include "supervisor/decide/notify/message.hpp"
#include "supervisor/decide/notify/teller.hpp"

namespace trainward::notify {

struct Telling {
  Kind kind = Kind::crashed;
  std::string_view program;
  const Episode& episode;
  const core::State& state;
  const Policy& policy;
  Figures figures;
  std::int64_t at_ms = 0;
  std::int64_t target_step = 0;  // 0: unknown
  std::int64_t progress_ms = 0;  // of no_progress: when progress stopped
  bool again = false;            // it was told before, and lasts
  bool often = false;            // of a crash_loop: episodes within a day, not attempts in a row
  std::int64_t episodes = 0;     // so many
};

// Title, text, fields, lines and tier; what it belongs to and when it is due is the caller's.
Message worded(const Telling& telling);

// Of a trouble that no attempt is about: `title` is the verdict alone, `what` a sentence without a
// full stop. `program` empty: the daemon's own.
Message worded(Kind kind, std::string_view program, std::string_view title, std::string_view what,
               const Policy& policy);

}  // namespace trainward::notify
