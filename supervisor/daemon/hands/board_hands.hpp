// What is done with boards for one program: looks, resets, leases, and compiling while there is
// none.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hwprobe/report/report.hpp"
#include "supervisor/daemon/attempt/launcher.hpp"
#include "supervisor/daemon/boards/boards_found.hpp"
#include "supervisor/daemon/hands/board_reset.hpp"
#include "supervisor/daemon/hands/program_context.hpp"
#include "supervisor/daemon/loop/child_process.hpp"

namespace trainward::daemon {

class BoardHands {
 public:
  explicit BoardHands(ProgramContext& context) : c_(context) {}
  ~BoardHands();
  BoardHands(const BoardHands&) = delete;
  BoardHands& operator=(const BoardHands&) = delete;

  void probe();                            // ProbeFinished
  void repair(const core::Repair& order);  // Repaired
  // What is held and what goes on follow the state.
  void turned();

  // As the newest look saw it; null: it did not.
  [[nodiscard]] const hwprobe::Board* board(const std::string& serial) const;
  // The boards of this order, and their place; the leases are given away.
  void add_to(LaunchOrder& what, const core::Launch& order) const;
  [[nodiscard]] Leases give_leases() { return std::exchange(leases_, {}); }

 private:
  void probe_now();
  void look_for_a_larger_mesh();
  [[nodiscard]] std::optional<BoardsWish> wish() const;
  [[nodiscard]] ProbeOrder probe_order() const;
  void reset(const core::Repair& order);
  void purge(const std::string& serial);
  void keep_boards();
  void compile_while_no_board();
  void begin_compiling_ahead(std::int64_t deadline_ms);
  void end_compiling_ahead(std::string_view why);

  ProgramContext& c_;
  std::unique_ptr<ChildProcess> probe_;
  std::unique_ptr<ResetOfBoards> reset_;
  std::unique_ptr<ChildProcess> ahead_;  // compiles while the board is reset or missing
  bool no_board_ = false;                // since when that was begun
  std::optional<hwprobe::Report> report_;
  std::optional<MeshPlace> place_;  // of the newest look
  Leases leases_;                   // of its boards, until the launch
};

}  // namespace trainward::daemon
