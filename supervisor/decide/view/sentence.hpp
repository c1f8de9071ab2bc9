// What is said of a program, in one sentence: what it does, how far it is, and whether anybody has
// to act. Every face of a run says it with these words. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json/json.hpp"
#include "supervisor/decide/core/need.hpp"

namespace trainward::views {

using core::Need;  // the first comes first

// Tones told apart by their shape.
struct Glyph {
  std::string_view character;  // one of UTF-8
  char ascii;                  // the same where there is only ASCII
};
Glyph glyph_of(core::Tone tone);

struct Sentence {
  core::Tone tone = core::Tone::changing;
  Need need = Need::nothing;
  std::string_view glyph;  // of the tone, told apart by its shape: one character of UTF-8
  char ascii_glyph = '?';  // the same where there is only ASCII
  std::string_view state;  // a name of core/shown.hpp
  std::string text;        // a whole sentence, on one line, safe to show, never empty
  std::string todo;        // what to do, with the command; empty: nothing
};

// `row`: of GET /v1/programs; what is missing in it is left out. Also taken where they are there:
// `effective_share` (of the whole run), `cause` (why the newest attempt that ended did), `snag` and
// `snag_from_ms`, `waits_until_ms`, `smaller_mesh` (core/need.hpp).
//
//   "RUNNING for 3 h, step 41,200 of 50,000, loss 2.310, effective 87 %; nothing to do."
//   "FATAL for 2 h at step 41,200 of 50,000: the disk is full; your action is needed."
// Without a daemon its todo is to start one: nobody else can start the program.
Sentence sentence_of(const json::object& row, std::int64_t now_ms, bool daemon_runs = true);

// The other figures of the newest step, from the row's `figures`: "gradient norm 0.931, MFU 41.2 %,
// input wait 12 ms"; empty where it told nothing but its loss.
std::string newest_step_text(const json::object& row);

// What somebody can do about it, in a sentence: `todo`, or that there is nothing.
std::string next_step(const Sentence& sentence, std::string_view program);

struct Told {
  std::string name;                   // of the program, safe to show
  const json::object* row = nullptr;  // one of the rows that were given
  Sentence sentence;
};

// Of a row: the attempt that runs has made no step. False where that is not known.
bool before_its_first_step(const json::object& row);

// All programs of a list, those that need somebody first, by name within.
std::vector<Told> told_of(const json::array& rows, std::int64_t now_ms);

// Of all of them: "2 programs; 1 needs attention." A whole sentence, too.
std::string headline_of(const std::vector<Told>& programs);

// "trainwardctl start NAME", quoted as a shell needs it.
std::string command_of(std::string_view verb, std::string_view program);

}  // namespace trainward::views
