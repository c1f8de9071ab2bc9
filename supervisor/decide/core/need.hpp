// Whether a person has to act on a program: one decision, for messages, `why`, `status`, `top`, the
// page and exit codes.
//
// A program that is to run may be held by a snag: something that neither a wait nor a remedy of
// ours is likely to mend. It shows in no state of its own, since the program is tried again all the
// while.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "common/base/time.hpp"
#include "supervisor/decide/core/shown.hpp"
#include "supervisor/decide/core/state.hpp"

namespace trainward::core {

enum class Snag : std::uint8_t {
  none,
  disk,           // full, damaged or gone; or checkpoints that cannot be read
  no_checkpoint,  // what had verified is not where it was, or one is to come from elsewhere
  missing_file,   // the newest attempt ended at once for a file that is not there
  no_board,       // none can be used, and none is merely in use
  same_end,       // it ends the same way again and again, and keeps nothing new
};

struct SnagFacts {
  Snag snag = Snag::none;
  std::string_view name;   // in documents
  std::string_view words;  // what it is
  std::string_view todo;   // what a person does; it may end with a command
};

inline constexpr std::array<SnagFacts, 6> snags{{
    {Snag::none, "", "", ""},
    {Snag::disk, "disk", "a disk is full, damaged or gone",
     "free space on it (df -h shows which) or bring it back; the program then goes on by itself"},
    {Snag::no_checkpoint, "no_checkpoint",
     "its checkpoints are not where they were, or cannot be had from where they were sent",
     "bring the folder or the server back, and it goes on by itself; or begin at step 0 by the "
     "command that its reason ends with"},
    {Snag::missing_file, "missing_file", "a file that it needs is not there",
     "put the file in its place, or correct the command"},
    {Snag::no_board, "no_board", "there is no board that can be used",
     "look at the boards and their driver: trainwardctl probe"},
    {Snag::same_end, "same_end", "it ends the same way each time and keeps nothing new",
     "remove the cause; the program is tried again meanwhile"},
}};

constexpr const SnagFacts& facts(Snag snag) { return snags.at(static_cast<std::size_t>(snag)); }
static_assert(std::ranges::all_of(snags,
                                  [](const SnagFacts& row) { return &facts(row.snag) == &row; }));
constexpr std::string_view to_string(Snag snag) { return facts(snag).name; }
constexpr Snag snag_from(std::string_view name) {
  const auto* const row = std::ranges::find(snags, name, &SnagFacts::name);
  return row == snags.end() ? Snag::none : row->snag;
}

struct Held {
  Snag snag = Snag::none;
  WallTime from;  // from then on somebody has to act
  friend bool operator==(const Held&, const Held&) = default;
};
// What holds the program, if anything does.
Held held_by(const State& state);
// The same, once it is time for somebody to act.
Snag snag_at(const State& state, WallTime now);
// For readers who know nothing of the core, kept beside the state: {"held":{"snag":…,"from_ms":…}},
// while it waits "waits_until_ms", and on a smaller mesh "smaller_mesh": "2x2 of 2x4".
json::object plight_of(const State& state, Time now);

enum class Need : std::uint8_t {
  must,     // it does not go on, or not as it should, until somebody acts
  may,      // it rests because somebody wanted it to, and goes on when somebody says so
  nothing,  // it goes on by itself, or has done its work
};

constexpr Need need_of(Shown shown, Snag snag) {
  switch (shown) {
    case Shown::fatal:
    case Shown::unkillable:
      return Need::must;
    case Shown::stopped:
    case Shown::unknown:
      return Need::may;
    case Shown::exited:
      return Need::nothing;
    case Shown::starting:
    case Shown::running:
    case Shown::backoff:
    case Shown::stopping:
      break;
  }
  return snag == Snag::none ? Need::nothing : Need::must;
}

// How many of the newest ends in a row were the same, cause and step, and kept nothing new.
int equal_ends(const History& history);

}  // namespace trainward::core
