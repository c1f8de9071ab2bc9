#include "supervisor/daemon/hands/board_hands.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "common/os/clock.hpp"
#include "common/os/fault_point.hpp"
#include "supervisor/daemon/attempt/worker_folders.hpp"
#include "supervisor/daemon/boards/board_probe.hpp"
#include "supervisor/daemon/boards/board_repair.hpp"
#include "supervisor/daemon/boards/compile_ahead.hpp"
#include "supervisor/daemon/boards/lease.hpp"
#include "supervisor/daemon/boards/smaller_mesh.hpp"

namespace trainward::daemon {
namespace {

// A mesh of more is on several boards, whose links have to come up again.
constexpr std::int64_t chips_of_one_board = 2;

// Of our own worker, whose steps any mesh can share; none: the mesh is as it is.
std::optional<StepWork> step_work(const config::Program& program) {
  if (!program.command.empty()) return std::nullopt;
  const auto training = get_object(program.worker, "training_config");
  const auto device = get_object(program.worker, "device_config");
  if (!training || !device) return std::nullopt;
  return StepWork{int_or(**training, "batch_size", 1), int_or(**training, "accumulation", 1),
                  bool_or(**device, "enable_tp", false)};
}

}  // namespace

BoardHands::~BoardHands() { c_.services.mesh_wishes.forget(c_.name()); }

const hwprobe::Board* BoardHands::board(const std::string& serial) const {
  if (!report_ || serial.empty()) return nullptr;
  for (const hwprobe::Board& board : report_->boards) {
    if (board.serial == serial) return &board;
  }
  return nullptr;
}

void BoardHands::add_to(LaunchOrder& what, const core::Launch& order) const {
  what.board = board(order.board);
  for (const std::string& serial : order.more_boards) {
    if (const hwprobe::Board* found = board(serial)) what.more_boards.push_back(found);
  }
  what.place = place_;
  if (place_ && place_->mesh != c_.program.mesh) what.full_mesh = c_.program.mesh;
}

// ---- looks ----

ProbeOrder BoardHands::probe_order() const {
  ProbeOrder order;
  order.host = c_.program.host;
  order.command = c_.program.probe_command;
  return order;
}

void BoardHands::probe() {
  if (core::has_worker(c_.session->state().stage)) return look_for_a_larger_mesh();
  probe_.reset();  // the answer to a look at a mesh in use is no answer now
  leases_.clear();
  place_.reset();
  // They would make our own board look like somebody else's. What stays is said at the launch.
  c_.end_leftovers_then([this](const Status& ended) {
    if (c_.session->state().stage != core::Stage::probing) return;
    if (!ended) spdlog::warn("{}: {}", c_.name(), ended.error().message());
    probe_now();
  });
}

// None: any one board will do.
std::optional<BoardsWish> BoardHands::wish() const {
  if (!c_.program.mesh) return std::nullopt;
  const core::State& state = c_.session->state();
  BoardsWish wish{{*c_.program.mesh, c_.services.mesh_wishes.of_others(c_.name())},
                  {},
                  c_.program.min_chips,
                  0,
                  state.boards.known_mesh,
                  {}};
  if (const auto work = step_work(c_.program)) {
    wish.smaller = smaller_meshes(*c_.program.mesh, *work);
  }
  return wish;
}

void BoardHands::probe_now() {
  probe_ = probe_boards(c_.services.loop, c_.services.paths, probe_order(), c_.services.store,
                        [this](const Result<hwprobe::Report>& report) {
                          if (report) report_ = *report;
                          BoardsFound found = boards_found(report, wish(), c_.services.store,
                                                           c_.services.paths, now().wall);
                          place_ = std::move(found.place);
                          leases_ = std::move(found.leases);
                          c_.handle(std::move(found.event));
                        });
}

// While a worker runs: what is known of its own boards stays, and nothing is taken.
void BoardHands::look_for_a_larger_mesh() {
  probe_ = probe_boards(
      c_.services.loop, c_.services.paths, probe_order(), c_.services.store,
      [this](const Result<hwprobe::Report>& report) {
        std::optional<BoardsWish> asked = wish();
        const core::Boards& boards = c_.session->state().boards;
        if (asked && boards.smaller) asked->has_chips = boards.smaller->chips;
        for (const std::string& serial : core::serials_of(boards)) {
          if (asked) asked->ours.insert(serial);
        }
        c_.handle(
            boards_found(report, asked, c_.services.store, c_.services.paths, now().wall).event);
      });
}

void BoardHands::turned() {
  compile_while_no_board();
  keep_boards();
}

// What was leased for a launch that will not come is given back; what waits for a place is known to
// those that are placed meanwhile.
void BoardHands::keep_boards() {
  using core::Stage;
  const core::State& state = c_.session->state();
  const Stage stage = state.stage;
  if (stage != Stage::probing && stage != Stage::selecting && stage != Stage::launching) {
    leases_.clear();
  }
  // No caller waits for the outcome of a reset now.
  if (reset_ && stage != Stage::repairing && reset_->only_looks()) reset_.reset();
  const bool waits = stage == Stage::probing || stage == Stage::repairing ||
                     (stage == Stage::backoff && state.wanted);
  if (c_.program.mesh && waits) {
    c_.services.mesh_wishes.wish(c_.name(), *c_.program.mesh);
  } else {
    c_.services.mesh_wishes.forget(c_.name());
  }
}

// ---- repairs ----

void BoardHands::repair(const core::Repair& order) {
  if (order.repair == core::Remedy::reset_board) return reset(order);
  if (order.repair == core::Remedy::purge_caches) return purge(order.serial);
  c_.handle(core::Repaired{order.repair, "this daemon does not know how"});
}

void BoardHands::reset(const core::Repair& order) {
  ResetOrder what{{order.serial},
                  c_.program.reset_command,
                  c_.policy.deadlines.reset_ms,
                  c_.program.settle_ms,
                  probe_order(),
                  report_};
  what.boards.insert(what.boards.end(), order.more.begin(), order.more.end());
  const std::optional<config::Mesh>& mesh = c_.program.mesh;
  if (mesh && mesh->rows * mesh->columns > chips_of_one_board) what.rest_ms = c_.program.rest_ms;
  what.resting = [this](std::int64_t ms) { c_.handle(core::Settling{ms}); };
  leases_.clear();  // of a place that was not taken
  // Held until it is done: another program may have taken a board meanwhile, or want it now.
  auto held = std::make_shared<std::vector<Fd>>();
  for (const std::string& serial : what.boards) {
    auto lease = take_lease(c_.services.paths.board_lease(serial));
    if (!lease) return c_.handle(core::Repaired{order.repair, "another program works on it"});
    held->push_back(std::move(*lease));
  }
  fault_point("repair.reset");
  if (!ahead_) begin_compiling_ahead(c_.policy.deadlines.reset_ms);
  reset_ = std::make_unique<ResetOfBoards>(
      c_.services, std::move(what), [this, held](ResetOutcome outcome) {
        held->clear();
        if (!no_board_) end_compiling_ahead("the reset is over");
        c_.handle(core::Repaired{core::Remedy::reset_board, std::move(outcome.error),
                                 std::move(outcome.found)});
      });
}

void BoardHands::purge(const std::string& serial) {
  auto folders = folders_to_purge(c_.services.paths, c_.session->state(), serial, c_.program);
  c_.in_background("purge the compile caches",
                   [this, folders = std::move(folders), program = c_.program,
                    paths = c_.services.paths]() -> Background::Then {
                     const InItsFolders acting(program, paths);
                     auto error = acting ? purge_folders(folders) : acting.why().value().message();
                     return [this, error = std::move(error)] {
                       c_.handle(core::Repaired{core::Remedy::purge_caches, error});
                     };
                   });
}

// ---- compiling ahead ----

void BoardHands::begin_compiling_ahead(std::int64_t deadline_ms) {
  ahead_ = compile_ahead(c_.services.loop, c_.services.paths, c_.program,
                         c_.session->state().attempt, deadline_ms, [this](const std::string& text) {
                           c_.note("compile", text);
                           ahead_.reset();
                         });
}

// What it has finished is in the cache; the attempt does the rest, and does not wait for it.
void BoardHands::end_compiling_ahead(std::string_view why) {
  if (!ahead_) return;
  ahead_.reset();
  c_.note("compile", fmt::format("compiling ahead was ended: {}", why));
}

// Once for each time that no board is usable.
void BoardHands::compile_while_no_board() {
  constexpr std::int64_t day_ms = 24 * 3600 * std::int64_t{1000};
  using core::Stage;
  const core::State& state = c_.session->state();
  const bool waits =
      state.stage == Stage::backoff && state.history.last_cause == core::Cause::no_board;
  if (waits && !no_board_) {
    no_board_ = true;
    if (!ahead_) begin_compiling_ahead(day_ms);
  }
  if (waits || !no_board_ || state.stage == Stage::probing || state.stage == Stage::repairing) {
    return;
  }
  no_board_ = false;
  end_compiling_ahead("a board is there, or none is wanted");
}

}  // namespace trainward::daemon
