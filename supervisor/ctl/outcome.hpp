// What became of a command about programs, in supervisorctl's words: "NAME: started", "NAME: ERROR
// (not running)".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "supervisor/ctl/client/source.hpp"

namespace trainward::ctl {

struct Outcome {
  std::string program;
  std::string text;     // "started", "ERROR (already started)"
  std::string message;  // more than the word
  bool ok = false;
  int exit_code = exit_status::ok;
  std::optional<bool> stopped = {};  // of a restart: it was running before
};

// `answer` is the daemon's: {"program", "result", "ok", "message"}.
Outcome outcome_of(const json::object& answer);

// POST /v1/programs/NAME/`what` for each, side by side, answered in the order asked: what is asked
// for may take minutes. One failure when there is no daemon.
Answer<std::vector<Outcome>> ask_each(const Context& context, const std::string& what,
                                      const Names& names);

// A row of the JSON document.
json::object row_of(const Outcome& outcome, std::string_view action);

// As text: the word on stdout, what more there is to say of a failure on stderr.
void print_outcomes(const Context& context, const std::vector<Outcome>& outcomes);

// The end of a command: printed, and the highest exit code.
int print_outcomes(const Context& context, const Answer<std::vector<Outcome>>& outcomes,
                   std::string_view action);

}  // namespace trainward::ctl
