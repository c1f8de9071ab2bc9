// What can be done about a failed attempt besides starting again: the remedies and their words.
//
// A repair is carried out before the next attempt begins, by the shell around the core (action
// Repair, answered by Repaired); every other remedy is a decision about the next attempt. Which
// class of crash gets which of them, and in which order, stands in cause.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trainward::core {

enum class Remedy : std::uint8_t {
  retry,
  reset_board,
  purge_caches,
  shrink_plan,
  older_checkpoint,
  quarantine_board,
  stop,
};

struct RemedyFacts {
  Remedy remedy = Remedy::retry;
  std::string_view name;    // in the database and in stored states
  std::string_view words;   // in tables of ladders
  std::string_view repair;  // what the program is doing meanwhile; empty: it is no repair
};

inline constexpr std::array<RemedyFacts, 7> remedies{{
    {Remedy::retry, "retry", "retry", ""},
    {Remedy::reset_board, "reset_board", "reset the board", "resetting the board"},
    {Remedy::purge_caches, "purge_caches", "purge caches", "purging the compile caches"},
    {Remedy::shrink_plan, "shrink_plan", "a smaller plan", ""},
    {Remedy::older_checkpoint, "older_checkpoint", "an older checkpoint", ""},
    {Remedy::quarantine_board, "quarantine_board", "quarantine the board", ""},
    {Remedy::stop, "stop", "stop", ""},
}};

constexpr const RemedyFacts& facts(Remedy remedy) {
  return remedies.at(static_cast<std::size_t>(remedy));
}

static_assert(std::ranges::all_of(remedies, [](const RemedyFacts& row) {
  return &facts(row.remedy) == &row;
}));

constexpr std::string_view to_string(Remedy remedy) { return facts(remedy).name; }

// Nothing for a word of another release: its meaning is not known here.
constexpr bool from_string(std::string_view name, Remedy& remedy) {
  const auto* const row = std::ranges::find(remedies, name, &RemedyFacts::name);
  if (row == remedies.end()) return false;
  remedy = row->remedy;
  return true;
}

}  // namespace trainward::core
