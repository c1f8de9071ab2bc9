// What people are told of: every kind of message there is, and who has to act.
//
// Names are for the edges (database, channels) and never change their meaning.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace trainward::notify {

enum class Tier : std::uint8_t { info, warning, critical };

inline constexpr std::array<std::string_view, 3> tier_names{"info", "warning", "critical"};

constexpr std::string_view to_string(Tier tier) {
  return tier_names.at(static_cast<std::size_t>(tier));
}
constexpr bool from_string(std::string_view name, Tier& tier) {
  const auto* const found = std::ranges::find(tier_names, name);
  if (found == tier_names.end()) return false;
  tier = static_cast<Tier>(found - tier_names.begin());
  return true;
}

enum class Kind : std::uint8_t {
  // ---- a person has to act now
  gave_up,
  unkillable,
  no_board,
  no_checkpoint,
  disk_full,
  stuck,
  no_progress,
  database,
  state_lost,
  // ---- a person should look tomorrow
  crashed,
  crash_loop,
  loss,
  board,
  upload,
  // ---- nobody has to act
  recovered,
  closed,
  done,
  digest,
  test,
};

struct KindFacts {
  Kind kind = Kind::crashed;
  std::string_view name;
  Tier tier = Tier::info;
  std::string_view words;      // in documents
  bool held = false;           // for a moment, because most of them pass
  std::string_view todo = {};  // what somebody has to do, where the program's state says nothing
};

inline constexpr std::array<KindFacts, 19> kinds{{
    {Kind::gave_up, "gave_up", Tier::critical, "a program is FATAL: trainwardd has given up"},
    {Kind::unkillable, "unkillable", Tier::critical,
     "the kernel does not let a worker die, and nothing can start before it has"},
    {Kind::no_board, "no_board", Tier::critical, "no board could be used for two minutes"},
    {Kind::no_checkpoint, "no_checkpoint", Tier::critical,
     "no checkpoint can be used, though there were some", false,
     "stop the program if it must not start from scratch, and look at its checkpoints "
     "(trainwardctl ckpt list)"},
    {Kind::disk_full, "disk_full", Tier::critical,
     "an attempt ended because a disk is full, damaged or gone"},
    {Kind::stuck, "stuck", Tier::critical,
     "attempts end the same way again and again, or for want of a file", true},
    {Kind::no_progress, "no_progress", Tier::critical,
     "nothing new was kept for `no_progress`, while the program is to run", false,
     "look at what it does (trainwardctl why, trainwardctl top)"},
    {Kind::database, "database", Tier::warning, "the run database was damaged, or refused", false,
     "look at the disk of the state folder"},
    {Kind::state_lost, "state_lost", Tier::critical, "the state folder is gone", false,
     "bring the state folder back, then start trainwardd"},
    {Kind::crashed, "crashed", Tier::warning, "the first unplanned end of an episode", true},
    {Kind::crash_loop, "crash_loop", Tier::warning,
     "attempts end one after the other, or again and again within a day"},
    {Kind::loss, "loss", Tier::warning, "the loss is not a number, or jumped and stayed", true},
    {Kind::board, "board", Tier::warning, "a board is in quarantine"},
    {Kind::upload, "upload", Tier::warning, "an upload has been failing for more than an hour",
     false, "look at `trainwardctl upload list`"},
    {Kind::recovered, "recovered", Tier::info, "the end of an episode: more is kept than before"},
    {Kind::closed, "closed", Tier::info, "the end of an episode because the program was stopped"},
    {Kind::done, "done", Tier::info, "a program has done its work"},
    {Kind::digest, "digest", Tier::info, "what the last day, or week, came to"},
    {Kind::test, "test", Tier::info, "somebody tries a channel"},
}};

constexpr const KindFacts& facts(Kind kind) { return kinds.at(static_cast<std::size_t>(kind)); }

static_assert(std::ranges::all_of(kinds,
                                  [](const KindFacts& row) { return &facts(row.kind) == &row; }));

constexpr std::string_view to_string(Kind kind) { return facts(kind).name; }

constexpr bool from_string(std::string_view name, Kind& kind) {
  const auto* const row = std::ranges::find(kinds, name, &KindFacts::name);
  if (row == kinds.end()) return false;
  kind = row->kind;
  return true;
}

}  // namespace trainward::notify
