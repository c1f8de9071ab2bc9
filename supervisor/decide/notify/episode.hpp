// What is remembered of a program so that its troubles are told once: open episodes, and a little
// beside them. Values, stored as JSON.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/decide/core/cause.hpp"
#include "supervisor/decide/notify/kind.hpp"

namespace trainward::notify {

// How an attempt ended, as far as people are told.
struct End {
  std::int64_t attempt = 0;
  core::Cause cause = core::Cause::none;
  std::string verdict;         // one sentence
  std::string evidence;        // the deciding line
  std::string evidence_place;  // "stderr.log:117"
  std::string remedy;          // a name of core/remedy.hpp; empty: none
  std::string board;
  std::int64_t step = 0;  // the last it finished
  std::int64_t kept = 0;  // the newest verified then
  std::int64_t at_ms = 0;
  std::vector<std::string> lines;  // of its log, as they may be shown
  friend bool operator==(const End&, const End&) = default;
};
BOOST_DESCRIBE_STRUCT(End, (),
                      (attempt, cause, verdict, evidence, evidence_place, remedy, board, step, kept,
                       at_ms, lines))

// From the first unplanned end, or another trouble, until more is kept than before, or the trouble
// is gone.
struct Episode {
  std::int64_t id = 0;
  std::string family;
  std::int64_t opened_ms = 0;
  std::int64_t closed_ms = 0;         // 0: it lasts
  std::optional<Tier> told = {};      // the highest that was told; none: nobody was
  std::optional<Kind> standing = {};  // what is critical and lasts
  std::int64_t standing_told_ms = 0;  // when that was told last
  std::int64_t held = 0;              // the message that is not due yet; 0: none
  std::int64_t held_until_ms = 0;
  Kind held_kind = Kind::crashed;
  bool spared = false;        // one of several within a day: nobody is told of it alone
  bool looped = false;        // that attempts end one after the other was told
  bool goes_on = false;       // it made a step after its newest end
  std::string what;           // of troubles that are not ends: in words
  std::int64_t until_ms = 0;  // when it ends by itself; 0: it does not
  // ---- of ends ----
  std::int64_t past_kept = 0;     // what has to be exceeded
  std::int64_t past_highest = 0;  // the same, of programs that keep no checkpoints
  std::int64_t ends = 0;
  std::map<core::Cause, std::int64_t> causes;
  End end;                      // the newest
  std::int64_t lost_ms = 0;     // that went neither to new steps nor to saving them
  std::int64_t lost_steps = 0;  // done and not kept
  friend bool operator==(const Episode&, const Episode&) = default;
};
BOOST_DESCRIBE_STRUCT(Episode, (),
                      (id, family, opened_ms, closed_ms, told, standing, standing_told_ms, held,
                       held_until_ms, held_kind, spared, looped, goes_on, what, until_ms, past_kept,
                       past_highest, ends, causes, end, lost_ms, lost_steps))

// Of a family: what was before the episode that is open, or next.
struct Past {
  std::int64_t last_ms = 0;   // when one of them was opened or closed last
  std::int64_t episodes = 0;  // in a row, less than a day apart
  bool told_often = false;
  friend bool operator==(const Past&, const Past&) = default;
};
BOOST_DESCRIBE_STRUCT(Past, (), (last_ms, episodes, told_often))

struct Standing {
  std::string shown;             // a name of core/shown.hpp; empty: nothing is known yet
  std::int64_t kept = 0;         // the newest verified step ever
  std::int64_t progress_ms = 0;  // when there was more than before, or since when it is to run; 0:
                                 // it is not
  std::map<std::string, Past> past;
  friend bool operator==(const Standing&, const Standing&) = default;
};
BOOST_DESCRIBE_STRUCT(Standing, (), (shown, kept, progress_ms, past))

struct Book {
  Standing standing;
  std::vector<Episode>
      episodes;              // in the order of their opening; closed ones until they are stored
  std::int64_t seen_ms = 0;  // the newest that was heard; not stored
};

std::string to_json_text(const Episode& episode);
std::string to_json_text(const Standing& standing);
// Forgiving: what another release wrote and this one does not know is left out.
Result<Episode> episode_from(std::string_view text);
Result<Standing> standing_from(std::string_view text);  // of "": nothing is known

// What kind of trouble an end with this cause is, and which of a program's episodes it belongs to.
struct Family {
  std::string_view name;
  Kind kind = Kind::crashed;
};
Family family_of(core::Cause cause);

// A step or a checkpoint past what was there before closes it.
bool of_ends(const Episode& episode);

namespace family {
inline constexpr std::string_view crashes = "crashes";
inline constexpr std::string_view device = "device";
inline constexpr std::string_view loss = "loss";
inline constexpr std::string_view disk = "disk";
inline constexpr std::string_view progress = "progress";
inline constexpr std::string_view unkillable = "unkillable";
inline constexpr std::string_view boards = "boards";
inline constexpr std::string_view checkpoints = "checkpoints";
inline constexpr std::string_view one_board = "board ";  // with its serial
}  // namespace family

// Of those above, which a Teller opens and closes; other troubles of a program are somebody else's.
bool is_of_teller(std::string_view family);

}  // namespace trainward::notify
