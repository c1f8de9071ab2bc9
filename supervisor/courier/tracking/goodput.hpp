// Where the time of a program went, up to any moment: read along the ledger, forwards.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "common/base/error.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::tracking {

class Goodput {
 public:
  explicit Goodput(std::string program) : program_(std::move(program)) {}

  struct Shares {
    double effective = 0;                   // 0 to 1
    std::map<std::string, double> seconds;  // by phase
  };
  // Of the time until `at_ms` (wall), with what the newest span, which is not booked yet, comes to
  // by then. Nothing: no time is known. Moments must not go back; one that does is taken as the
  // last one.
  Result<std::optional<Shares>> until(const store::Store& store, std::int64_t at_ms);

 private:
  Status read(const store::Store& store);
  Status add_open(const store::Store& store, std::map<std::string, std::int64_t>& ms) const;

  std::string program_;
  std::map<std::string, std::int64_t> ms_;  // of spans that were over
  std::deque<store::SpanRow> ahead_;        // read, and not over
  std::int64_t last_id_ = 0;
  std::int64_t booked_until_ms_ = 0;
  std::int64_t at_ms_ = 0;
};

}  // namespace trainward::tracking
