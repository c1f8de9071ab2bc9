// What trainward-courier does besides its service: bringing a checkpoint back, and taking down what
// people ask of uploads. Each is the whole life of a process and returns its exit code.
#pragma once

#include <string>
#include <vector>

namespace trainward::courier {

// `trainward-courier restore`: a line of orders on stdin, with one program in its uploads. The end
// of stdin, SIGTERM and SIGINT end it. On stdout a JSON object a line: {"progress": {"target",
// "name", "step", "bytes", "total"}} once a second, {"note": "…"}, and at last {"restored":
// {"path", "name", "target", "step", "bytes"}} (path "": no target has one) or {"error": "…"}.
int restore_command();

// `trainward-courier ask STATE_DIR now|retry|verify PROGRAM TARGET`: on record for the courier that
// runs, or for the next one. Prints {"at_ms", "courier": whether one runs}, or {"error"}.
int ask_command(const std::vector<std::string>& words);

}  // namespace trainward::courier
