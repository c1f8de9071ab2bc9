// What became of the rows of the data: for people to look at before they trust a run to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/data/data_files.hpp"

namespace trainward::trainer {

struct LoadReport {
  std::int64_t examples = 0;  // that are there to be used
  std::int64_t tokens = 0;
  std::int64_t targets = 0;  // tokens whose prediction is trained

  // Left out.
  std::int64_t bad_rows = 0;
  std::string first_bad_row;  // "FILE:ROW: reason"
  std::vector<Unread> unread;
  std::int64_t too_long = 0;        // and to be dropped
  std::int64_t without_target = 0;  // cutting took every target

  std::int64_t cut = 0;                // to the length of a row
  std::int64_t special_in_text = 0;    // people wrote what is a special token
  std::int64_t without_beginning = 0;  // where the model expects a begin token
  std::int64_t beginning_twice = 0;

  // Tokens an example, before any was cut or dropped.
  std::int64_t median = 0;
  std::int64_t ninety_percent = 0;  // are no longer than this
  std::int64_t ninety_nine_percent = 0;
  std::int64_t longest = 0;

  [[nodiscard]] std::int64_t dropped() const { return too_long + without_target; }
  // What a user should know before the run starts, one sentence each; empty when all is well.
  [[nodiscard]] std::vector<std::string> warnings() const;
};

}  // namespace trainward::trainer
