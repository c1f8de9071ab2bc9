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
};

inline constexpr std::array<ShownFacts, 9> shown_states{{
    {Shown::stopped, "STOPPED", true, true, Tone::quiet},
    {Shown::starting, "STARTING", false, false, Tone::changing},
    {Shown::running, "RUNNING", false, false, Tone::good},
    {Shown::backoff, "BACKOFF", false, false, Tone::changing},
    {Shown::stopping, "STOPPING", false, false, Tone::changing},
    {Shown::unkillable, "UNKILLABLE", true, false, Tone::bad},
    {Shown::exited, "EXITED", true, true, Tone::quiet},
    {Shown::fatal, "FATAL", true, true, Tone::bad},
    {Shown::unknown, "UNKNOWN", true, false, Tone::changing},
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
