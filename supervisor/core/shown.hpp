// The states of a program that an operator sees (supervisord's words), and what follows from them.
//
// A state that is not in the table comes from another release and counts as UNKNOWN.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace trainward::core {

enum class Shown : std::uint8_t {
  stopped,
  starting,
  running,
  backoff,
  stopping,
  unkillable,
  exited,
  fatal,
  unknown,
};

enum class Tone : std::uint8_t { good, changing, quiet, bad };

struct ShownFacts {
  Shown shown = Shown::unknown;
  std::string_view name;
  bool down = false;  // `trainwardctl status` ends with 3, as supervisorctl does
  bool over = false;  // nothing runs, and nothing will by itself
  Tone tone = Tone::changing;
  std::string_view next;  // what the reader of `trainwardctl why` can do; {}: the program
};

namespace next_words {
inline constexpr std::string_view nothing = "nothing to do: trainwardd goes on by itself";
}

inline constexpr std::array<ShownFacts, 9> shown_states{{
    {Shown::stopped, "STOPPED", true, true, Tone::quiet,
     "it was stopped. To go on: trainwardctl start {}"},
    {Shown::starting, "STARTING", false, false, Tone::changing, next_words::nothing},
    {Shown::running, "RUNNING", false, false, Tone::good, next_words::nothing},
    {Shown::backoff, "BACKOFF", false, false, Tone::changing, next_words::nothing},
    {Shown::stopping, "STOPPING", false, false, Tone::changing, next_words::nothing},
    {Shown::unkillable, "UNKILLABLE", true, false, Tone::bad,
     "the next attempt starts when this process is gone. If it stays, only a restart of the "
     "machine ends it"},
    {Shown::exited, "EXITED", true, true, Tone::quiet,
     "nothing to do. The whole run: trainwardctl report {}"},
    {Shown::fatal, "FATAL", true, true, Tone::bad,
     "trainwardd has given up. Remove the cause, then: trainwardctl start {}"},
    {Shown::unknown, "UNKNOWN", true, false, Tone::changing, next_words::nothing},
}};

constexpr const ShownFacts& facts(Shown shown) {
  return shown_states.at(static_cast<std::size_t>(shown));
}

static_assert(std::ranges::all_of(shown_states,
                                  [](const ShownFacts& row) { return &facts(row.shown) == &row; }));

constexpr std::string_view to_string(Shown shown) { return facts(shown).name; }

constexpr Shown shown_from(std::string_view name) {
  const auto* const row = std::ranges::find(shown_states, name, &ShownFacts::name);
  return row == shown_states.end() ? Shown::unknown : row->shown;
}

}  // namespace trainward::core
