// trainward-worker check: whether a device computes what it should, before a long run is trusted to
// it.
//
// The configured model takes a few steps on the device and, from the same start on the same data,
// with the CPU executor. After the first, every parameter's first moment is its gradient times a
// known factor, so the gradients of all of them are compared; after each, the losses are.
#pragma once

#include <cstdint>
#include <string>

#include "trainer/loop/worker.hpp"
#include "trainer/worker/commands/terminal.hpp"

namespace trainward::trainer {

struct CheckOptions {
  std::string config_file;
  std::int64_t steps = 5;
  // Least correlation of a parameter's gradient with the CPU's, and largest relative difference of
  // a loss, that count as right.
  double correlation = 0.99;
  double loss = 0.01;
  bool json = false;
};

// `make_model`: as for training. Exit codes: 0 the device agrees, 1 it does not or failed, 75
// stopped as asked, 78 something to be changed first.
int run_check(const CheckOptions& options, const CommandPorts& ports, const MakeModel& make_model);

// Adds the command to the app.
void add_check(CLI::App& app, Chosen& chosen);

}  // namespace trainward::trainer
