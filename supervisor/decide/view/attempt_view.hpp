// What is said of an attempt, from its row in GET /v1/programs/NAME/history or `why`. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/base/json/json.hpp"
#include "supervisor/decide/core/shown.hpp"

namespace trainward::views {

bool still_runs(const json::object& attempt);

// "device_oom", "running"
std::string cause_name(const json::object& attempt);
// What the cause means: "the device's memory is full". "it still runs"; what is not in the table is
// of another version and says so.
std::string cause_words(std::string_view cause);
// What was done about it: "reset the board"; "nothing" where there was nothing to be done.
std::string remedy_words(std::string_view remedy);

// "41 steps lost", "nothing lost", "what was lost is not known yet"
std::string lost_words(const json::object& attempt);
// "from memory, where the attempt before had left step 40"; empty: from nothing, or not known
std::string source_words(const json::object& attempt);
// "1 to 40: 30 kept, 10 lost, 0 repeated"
std::string steps_words(const json::object& attempt);
// Serials are long and differ at the end: "…F00123", or "-".
std::string short_serial(const std::string& serial);
// Of an attempt: "…F00123", "…F00123 and 3 more", or "-".
std::string short_boards(const json::object& attempt);
// Of an attempt, whole: "0100014511F00123, …"; a row of an older version has one at most.
std::string board_words(const json::object& attempt);

// "To prevent this: …"; empty where nothing is known beyond what is done.
std::string advice_words(std::string_view cause);

// Of a program's state, a board's verdict, a cause, or what became of a checkpoint.
core::Tone tone_of(std::string_view word);

}  // namespace trainward::views
