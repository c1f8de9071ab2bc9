// What metrics are made of: sums and newest values, each read by a key, whatever the length of the
// run. What only grows is read once: from the row after the newest that was seen before.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.hpp"

namespace trainward::store {

// Of the ledger's rows above an id.
struct LedgerSums {
  struct Sum {
    std::string program, phase, cause;
    std::int64_t ms = 0;
  };
  std::vector<Sum> sums;
  std::map<std::string, std::int64_t> newest_save_ms;  // by program, where there was one
  std::int64_t newest_id = 0;
};

// Of what was compiled, above an id.
struct CompiledSums {
  struct Sum {
    std::string program;
    std::int64_t hits = 0;
    std::int64_t misses = 0;
  };
  std::vector<Sum> sums;
  std::int64_t newest_id = 0;
};

// An attempt, as far as it is counted.
struct AttemptFigures {
  std::int64_t number = 0;
  std::int64_t begin_ms = 0;  // decided on; the same from the first moment on
  bool ended = false;
  bool told_to_resume = true;
  std::string cause;
  std::int64_t resume_step = 0;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::int64_t kept_step = 0;

  friend bool operator==(const AttemptFigures&, const AttemptFigures&) = default;
};

// What v_attempts says of an attempt's steps. lost is unset while the next attempt has yet to show
// it.
struct StepsOfAttempt {
  std::int64_t number = 0;
  std::int64_t kept = 0;
  std::optional<std::int64_t> lost;
  std::int64_t replayed = 0;
};

struct KeptFigures {
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  std::int64_t at_ms = 0;
};

// What is said of a program as such, and how many checkpoints of it are on record.
struct ProgramNow {
  struct Open {
    std::string phase, cause;
    Time since;
  };
  std::string name, state;
  std::int64_t target_step = 0;
  bool wanted = false;
  std::optional<Open> open;  // the span of the ledger that is not booked yet
  std::int64_t verified = 0, corrupt = 0, pruned = 0;
};

// The newest look at a board and its newest sample, of an attempt that runs.
struct BoardRow {
  std::string serial, type, bus_id, verdict;
  std::optional<double> temperature_c, limit_c, power_w;
  std::optional<std::int64_t> clock_mhz, aer_correctable, aer_nonfatal, aer_fatal;
};

}  // namespace trainward::store
