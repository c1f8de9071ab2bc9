// How a command of trainward-worker is chosen and started from the command line.
#pragma once

#include <functional>

#include "trainer/worker/commands/command_ports.hpp"

namespace CLI {
class App;
}

namespace trainward::trainer {

// What was asked for, to be done after the whole command line was read; the exit code. Each command
// has a function that adds it to the app and sets this when it is named.
using Chosen = std::function<int()>;

// Runs `command` with what the process has: its terminal, its signals. What it says reaches a
// terminal without sequences, unless it `colours`, and then makes it safe itself.
int with_terminal(const std::function<int(const CommandPorts& ports)>& command,
                  bool colours = false);

}  // namespace trainward::trainer
