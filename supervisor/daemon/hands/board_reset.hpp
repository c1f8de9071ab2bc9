// Resets boards by the operator's command, when nobody holds them, and looks what came of it.
//
//   look: does anybody hold one of them? ─▶ the command, a board after the other or once for all ─▶
//   look, and again every two seconds, until all are what they were (reset_check.hpp) or their time
//   is over
//
// Once for all where the command takes lists ({devices}, {serials}): boards of a mesh whose links
// train against each other come back only together.
//
// A look that fails before the reset does not prevent it: what hangs a probe may be what the reset
// is for. The caller holds the leases of the boards meanwhile. On the loop's thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hwprobe/report/report.hpp"
#include "supervisor/daemon/boards/board_probe.hpp"
#include "supervisor/daemon/hands/services.hpp"
#include "supervisor/daemon/loop/child_process.hpp"

namespace trainward::daemon {

struct ResetOrder {
  std::vector<std::string> boards;         // serial numbers
  std::vector<foreign::Template> command;  // with foreign::reset_names()
  std::int64_t deadline_ms = 0;            // of the command
  std::int64_t settle_ms = 0;              // from the reset until the boards are what they were
  ProbeOrder probe;
  // What is known from before the trouble, best of all from when a program was placed on them.
  std::optional<hwprobe::Report> known;
  // Between the reset and the first look: links to other boards are not asked while they come up.
  std::int64_t rest_ms = 0;
  std::function<void(std::int64_t rest_ms)> resting = {};  // it begins
};

struct ResetOutcome {
  std::string error;  // empty: it worked
  std::string found;  // by the last look, in words
};

class ResetOfBoards {
 public:
  // `done` is called once, on the loop; destroying this ends what runs, and nothing is called.
  ResetOfBoards(Services& services, ResetOrder order, std::function<void(ResetOutcome)> done);
  ~ResetOfBoards() = default;
  ResetOfBoards(const ResetOfBoards&) = delete;
  ResetOfBoards& operator=(const ResetOfBoards&) = delete;

  // The command is done with; only looks are left, which may be given up at any time.
  [[nodiscard]] bool only_looks() const { return next_ >= order_.boards.size(); }

 private:
  void look(std::function<void(Result<hwprobe::Report>)> then);
  void before(const Result<hwprobe::Report>& report);
  void run_command();
  void rest();
  void after(const Result<hwprobe::Report>& report);
  void finish(ResetOutcome outcome);
  [[nodiscard]] std::string bus_id_of(const std::string& serial) const;
  [[nodiscard]] foreign::Values values_for(const std::string& serial) const;
  [[nodiscard]] const hwprobe::Board* as_known(const std::string& serial) const;

  Services& services_;
  ResetOrder order_;
  std::function<void(ResetOutcome)> done_;
  std::optional<hwprobe::Report> first_look_;
  std::size_t next_ = 0;  // the board whose turn it is
  MonoTime reset_at_;
  Timer timer_;
  std::unique_ptr<ChildProcess> child_;
};

}  // namespace trainward::daemon
