// What a page is made of: the documents of one program as the API serves them (docs/api.md),
// wherever they came from.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::store {
class Store;
}

namespace trainward::page {

inline constexpr std::int64_t attempts_shown = 20;

// The sections of a program's page, in their order.
inline constexpr std::array<std::string_view, 10> section_ids{
    "summary", "curve",  "time",        "attempts", "why",
    "log",     "boards", "checkpoints", "learning", "events"};

// What is looked at.
struct View {
  std::string program;
  std::optional<std::int64_t> attempt = {};  // that `why` is about; none: the newest that ended
  std::optional<std::int64_t> before = {};   // attempts before this one; none: the newest
  std::int64_t now_ms = 0;
  bool operates = false;  // the reader may start and stop programs
  bool still = false;     // a file: no buttons, nothing that leads to a daemon
};

// A member that was not asked for, or that there is no answer to, is empty.
struct Documents {
  View view;
  json::array programs;  // rows of /v1/programs: this one, or all of them
  json::object curves;   // of all of them, program: its curve in a few points
  json::object curve;
  json::object ledger_run, ledger_day, ledger_hour;
  json::array attempts;  // rows of history, newest first, one more than is shown if there is one
  json::object why;
  std::string log;  // the end of the newest attempt's stdout, as it is
  std::int64_t log_attempt = 0;
  json::array boards;
  json::object samples;  // serial: rows of samples, six hours of them
  json::object probe;
  json::array checkpoints;
  json::array evaluations;
  json::array texts;  // samples of what the model says
  json::array events;
};

// One document: where the API keeps it, and how it is read from a database.
struct Question {
  std::string target;
  std::function<Result<json::value>(const store::Store&)> read;
};
using Ask = std::function<Result<json::value>(const Question&)>;

// Gets what the section needs into `documents`; "" for all of them. An answer that does not come is
// left out, but for that about the program itself.
Status gather(Documents& documents, std::string_view section, const Ask& ask);

// The row of the program itself; none when it is no longer in the configuration.
const json::object* row_of(const Documents& documents);

}  // namespace trainward::page
