// A long operation of a command: its progress on the terminal, and its end when somebody
// interrupts.
//
// In: what the checkpoint library tells through Progress. Out: a bar on stderr (only when that is a
// terminal and --json was not asked for), gone when the operation is over; an error that ends the
// operation after SIGINT or SIGTERM. One thread; one at a time.
#pragma once

#include <string>

#include "checkpoint/checkpoint.hpp"
#include "common/terminal/progress_bar.hpp"
#include "supervisor/ctl/base/context.hpp"
#include "supervisor/ctl/base/interruption.hpp"

namespace trainward::ctl {

class Operation {
 public:
  Operation(const Context& context, std::string label);
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  ~Operation();

  // Valid as long as this object.
  checkpoint::IoOptions io();

  // Names the next part of the work; the progress bar restarts.
  void next(std::string label);

  // Takes the bar away, before something else is printed.
  void clear();

  [[nodiscard]] bool interrupted() const { return interrupted_by_ != 0; }

  // After a failure: prints the error, or that it was interrupted and `unchanged` (a sentence such
  // as "nothing was changed"), and gives the exit code: 1, or 128 and the signal's number.
  int fail(const Error& error, std::string_view unchanged);

 private:
  Status step(std::uint64_t done, std::uint64_t total);

  const Context& context_;
  Interruption interruption_;
  ProgressBar bar_;
  int interrupted_by_ = 0;  // the signal, once the operation has been told to end
};

}  // namespace trainward::ctl
