// What one look at a daemon (or at its database) says, typed. Pure values; nothing in them is made
// safe for a terminal yet, which the canvas does.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/ctl/top/look.hpp"

namespace trainward::ctl::top {

inline constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

// A run that says nothing for longer than it usually takes.
struct Silence {
  std::int64_t since_ms = 0;  // how long
  std::int64_t usual_ms = 0;  // for a step
};

struct Program {
  std::string name;
  Look look;
  std::string glyph;
  std::string sentence;
  std::string todo;     // with the command; empty: there is nothing to do
  bool urgent = false;  // it does not go on until somebody does that
  std::optional<Silence> silence;
  std::string figures = {};  // of its newest step; empty: none but its loss
};

struct CurvePoint {       // of a bucket of steps
  std::int64_t step = 0;  // its first
  double least = no_number;
  double most = no_number;
  double mean = no_number;
  std::int64_t steps = 0;  // seen in it
  std::int64_t not_numbers = 0;
  std::int64_t attempt = 0;
  std::int64_t at_ms = 0;  // of the newest
};

struct CurveAttempt {
  std::int64_t number = 0;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::string cause;  // of its end
  bool over = false;
};

struct CurveSpot {
  std::int64_t step = 0;
  double loss = no_number;
};

struct Curve {
  std::int64_t from = 0;  // steps asked for
  std::int64_t to = 0;
  std::int64_t first_step = 0;  // of all there are
  std::int64_t newest_step = 0;
  std::int64_t bucket_steps = 1;
  std::vector<CurvePoint> points;      // by step
  std::vector<CurveSpot> lost;         // what older attempts had made of steps that were made again
  std::vector<CurveAttempt> attempts;  // oldest first
  std::vector<CurveSpot> evaluations;  // loss of held-out data
  std::vector<std::int64_t> checkpoints;  // steps of those that verified
};

struct Phase {
  std::string name;
  std::string cause;
  double share = 0;
};

struct Ledger {
  std::string window;  // "run", "24 h", "1 h"
  double seconds = 0;
  double effective = 0;       // share
  std::vector<Phase> phases;  // largest first
};

struct Board {
  std::string serial;
  std::string type;
  std::string verdict;
  std::string reason;
  Look look;
  std::optional<double> celsius;
  double celsius_limit = 75;
  std::optional<double> watts;
  std::string measured;  // how long ago, when that is worth saying
};

struct Event {
  std::int64_t id = 0;
  std::string when;  // as people read it
  std::int64_t attempt = 0;
  std::string kind;
  std::string text;
  std::string by;  // who asked for it
};

struct Log {
  std::string stream;  // "stdout" or "stderr"
  std::int64_t attempt = 0;
  std::vector<std::string> lines;  // oldest first
};

enum class Origin : std::uint8_t { daemon, database, nothing };

struct Snapshot {
  std::string clock;  // of the machine, as people read it
  Origin origin = Origin::nothing;
  std::string trouble;  // why it is not the daemon that answers, or what it suffers from
  std::vector<Program> programs;
  std::string selected;  // whose what follows is
  std::optional<Curve> curve;
  std::vector<Ledger> ledgers;
  std::vector<Board> boards;
  std::vector<Event> events;
  Log log;
};

}  // namespace trainward::ctl::top
