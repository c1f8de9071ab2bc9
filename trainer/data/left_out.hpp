// What of the data is left out, in one sentence for people who did not read the log. Pure.
#pragma once

#include <cstdint>
#include <string>

namespace trainward::trainer {

struct LeftOut {
  std::int64_t kept = 0;     // rows, or documents
  std::int64_t bad = 0;      // malformed
  std::string first_bad{};   // "FOLDER/FILE:ROW: reason"
  std::int64_t dropped = 0;  // whole, and without room in a row
  std::int64_t files = 0;    // that are not read
};

// "6 of 12 rows (50 %) are left out, the first mine.jsonl:2: has no 'response'", with "warning: "
// in front from a tenth on. Empty when nothing is.
std::string left_out_text(const LeftOut& of);

}  // namespace trainward::trainer
