// What a log and the way a process ended come to: evidence by weight, and the verdict.
//
//   60 to 51  a cause; of several, the rule that stands first in the list: roots stand first
//   45        a symptom that names a class; of several, the earliest line: what follows is its wake
//   90 to 20  how the process ended, when that is known: what the daemon makes of it
//             (supervisor/decide/core/turn/classify.hpp)
//   35        a cascade that names a class
//   32        a symptom of class unknown
//   30        a hint
//   25        a cascade of class unknown
//   22        anything that training overcame: it went on afterwards
//
// A log in which nothing is worth more than a hint tells of no failure: its class is benign, unless
// the ending says that there was one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/evidence/rules/rule.hpp"

namespace trainward::rules {

// How the process ended, where that is known.
struct Ending {
  std::optional<int> exit_code;
  std::optional<int> signal;
};

struct Finding {
  std::string rule;  // "tt-dram-full"; "exit-status" for the ending
  core::Cause cause = core::Cause::unknown;
  Strength strength = Strength::cause;
  std::string advice;            // what a person should do, in plain words
  std::string line;              // the first line of its last series that matched, made printable
  int stream = 0;                // which one it came in
  std::int64_t line_number = 0;  // of that line in its stream, from 1
  std::int64_t last_line = 0;    // of the newest line that matched
  std::int64_t count = 0;        // how many lines matched
  bool overcome = false;         // training went on after the newest of them
  int weight = 0;
  std::size_t order = 0;  // of its rule in the list
};

struct Conclusion {
  bool failed = false;
  std::vector<Finding> findings;  // heaviest first; the first is the verdict when it failed
  std::int64_t lines = 0;
  std::int64_t bytes = 0;
  std::int64_t progress = 0;  // how often training was seen to go on
  std::int64_t benign = 0;    // lines that only look bad
  std::string benign_line;    // the first of them

  [[nodiscard]] const Finding* verdict() const { return failed ? findings.data() : nullptr; }
  // Of the heaviest finding, or benign.
  [[nodiscard]] std::string_view crash_class() const {
    return failed ? to_string(findings.front().cause) : "benign";
  }
};

// Weighs and sorts the findings, adds one for the ending, and decides; at most `max_findings` stay.
void conclude(Conclusion& conclusion, const Ending& ending, std::size_t max_findings);

}  // namespace trainward::rules
