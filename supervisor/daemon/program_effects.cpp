// The side effects of ProgramRunner: what the core asks for, and how the answers come back.
#include <spdlog/spdlog.h>

#include <utility>

#include "checkpoint/disk/root_folder.hpp"
#include "checkpoint/retention.hpp"
#include "common/fault_point.hpp"
#include "supervisor/daemon/board_probe.hpp"
#include "supervisor/daemon/compile_ahead.hpp"
#include "supervisor/daemon/foreign_checkpoints.hpp"
#include "supervisor/daemon/launcher.hpp"
#include "supervisor/daemon/lease.hpp"
#include "supervisor/daemon/program_runner.hpp"
#include "supervisor/daemon/repair.hpp"

namespace trainward::daemon {
namespace {

constexpr int verify_tries = 30;
constexpr std::int64_t verify_again_ms = 1'000;

}  // namespace

void ProgramRunner::execute(const core::Action& action) {
  if (std::holds_alternative<core::Probe>(action)) do_probe();
  if (const auto* order = std::get_if<core::Repair>(&action)) do_repair(*order);
  if (const auto* order = std::get_if<core::SelectCheckpoint>(&action)) do_select(order->below);
  if (const auto* order = std::get_if<core::Launch>(&action)) do_launch(*order);
  if (const auto* order = std::get_if<core::SendSignal>(&action)) do_signal(order->signal);
  if (std::holds_alternative<core::CheckActivity>(action)) do_check_activity();
  if (const auto* order = std::get_if<core::VerifyCheckpoint>(&action)) do_verify(*order);
  if (std::holds_alternative<core::PruneCheckpoints>(action)) do_prune();
}

void ProgramRunner::in_background(std::string what, std::function<std::function<void()>()> work,
                                  std::function<void()> late) {
  if (!late) {
    late = [this, what] { note("slow", Background::slow_text({what, Background::slow_ms})); };
  }
  Background::Job job{std::move(what), unless_gone(std::move(work))};
  job.late = [alive = alive_, late = std::move(late)] {
    if (*alive) late();
  };
  services_.background.run(program_.name, std::move(job));
}

void ProgramRunner::look_at_processes(std::function<std::function<void()>()> look) {
  services_.background.run(program_.name + " processes",
                           {"look at the worker's processes", unless_gone(std::move(look))});
}

std::function<Background::Then()> ProgramRunner::unless_gone(
    std::function<Background::Then()> work) const {
  return [alive = alive_, work = std::move(work)]() -> Background::Then {
    return [alive, then = work()] {
      if (*alive) then();
    };
  };
}

void ProgramRunner::end_leftovers_then(std::function<void(const Status&)> then) {
  in_background("end what an earlier attempt left",
                [program = program_, paths = services_.paths,
                 then = std::move(then)]() -> std::function<void()> {
                  return [then, ended = end_leftovers(program, paths)] { then(ended); };
                });
}

const hwprobe::Board* ProgramRunner::board(const std::string& serial) const {
  if (!report_ || serial.empty()) return nullptr;
  for (const hwprobe::Board& board : report_->boards) {
    if (board.serial == serial) return &board;
  }
  return nullptr;
}

ProbeOrder ProgramRunner::probe_order() const {
  ProbeOrder order;
  order.host = program_.host;
  order.command = program_.probe_command;
  return order;
}

void ProgramRunner::do_probe() {
  leases_.clear();
  place_.reset();
  // They would make our own board look like somebody else's. What stays is said at the launch.
  end_leftovers_then([this](const Status& ended) {
    if (state_.stage != core::Stage::probing) return;
    if (!ended) spdlog::warn("{}: {}", program_.name, ended.error().message());
    probe_now();
  });
}

void ProgramRunner::probe_now() {
  child_ = probe_boards(
      services_.loop, services_.paths, probe_order(), services_.store,
      [this](const Result<hwprobe::Report>& report) {
        if (report) report_ = *report;
        std::optional<MeshWish> wish;
        if (program_.mesh) {
          wish = MeshWish{*program_.mesh, services_.mesh_wishes.of_others(program_.name)};
        }
        BoardsFound found =
            boards_found(report, wish, services_.store, services_.paths, now().wall_ms);
        place_ = std::move(found.place);
        leases_ = std::move(found.leases);
        handle(std::move(found.event));
      });
}

// What was leased for a launch that will not come is given back; what waits for a place is known to
// those that are placed meanwhile.
void ProgramRunner::keep_boards() {
  using core::Stage;
  const Stage stage = state_.stage;
  if (stage != Stage::probing && stage != Stage::selecting && stage != Stage::launching) {
    leases_.clear();
  }
  // Nobody waits any more for what a reset has done.
  if (reset_ && stage != Stage::repairing && reset_->only_looks()) reset_.reset();
  const bool waits = stage == Stage::probing || stage == Stage::repairing ||
                     (stage == Stage::backoff && state_.wanted);
  if (program_.mesh && waits) {
    services_.mesh_wishes.wish(program_.name, *program_.mesh);
  } else {
    services_.mesh_wishes.forget(program_.name);
  }
}

void ProgramRunner::do_repair(const core::Repair& order) {
  if (order.repair == core::Remedy::reset_board) return do_reset(order);
  if (order.repair == core::Remedy::purge_caches) return do_purge(order.serial);
  handle(core::Repaired{order.repair, "this daemon does not know how"});
}

void ProgramRunner::do_reset(const core::Repair& order) {
  ResetOrder reset{{order.serial},     program_.reset_command, policy_.deadlines.reset_ms,
                   program_.settle_ms, probe_order(),          report_};
  reset.boards.insert(reset.boards.end(), order.more.begin(), order.more.end());
  // Held until it is done: another program may have taken a board meanwhile, or want it now.
  auto held = std::make_shared<std::vector<Fd>>();
  for (const std::string& serial : reset.boards) {
    auto lease = take_lease(services_.paths.board_lease(serial));
    if (!lease) return handle(core::Repaired{order.repair, "another program works on it"});
    held->push_back(std::move(*lease));
  }
  fault_point("repair.reset");
  if (!ahead_) begin_compiling_ahead(policy_.deadlines.reset_ms);
  reset_ = std::make_unique<ResetOfBoards>(
      services_, std::move(reset), [this, held](ResetOutcome outcome) {
        held->clear();
        if (!no_board_) end_compiling_ahead("the reset is over");
        handle(core::Repaired{core::Remedy::reset_board, std::move(outcome.error),
                              std::move(outcome.found)});
      });
}

void ProgramRunner::note(const std::string& kind, const std::string& text) {
  const Time at = now();
  spdlog::info("{}: {}: {}", program_.name, kind, text);
  services_.console.event(program_.name, kind, text, at);
  auto noted =
      services_.store.add_event({0, at.wall_ms, program_.name, state_.attempt, kind, text});
  if (!noted) spdlog::warn("{}: {}", program_.name, noted.error().message());
}

void ProgramRunner::begin_compiling_ahead(std::int64_t deadline_ms) {
  ahead_ = compile_ahead(services_.loop, services_.paths, program_, state_.attempt, deadline_ms,
                         [this](const std::string& text) {
                           note("compile", text);
                           ahead_.reset();
                         });
}

// What it has finished is in the cache; the attempt does the rest, and does not wait for it.
void ProgramRunner::end_compiling_ahead(std::string_view why) {
  if (!ahead_) return;
  ahead_.reset();
  note("compile", fmt::format("compiling ahead was ended: {}", why));
}

// Once for each time that there is none.
void ProgramRunner::compile_while_no_board() {
  constexpr std::int64_t day_ms = 24 * 3600 * std::int64_t{1000};
  using core::Stage;
  const Stage stage = state_.stage;
  const bool waits = stage == Stage::backoff && state_.last_cause == core::Cause::no_board;
  if (waits && !no_board_) {
    no_board_ = true;
    if (!ahead_) begin_compiling_ahead(day_ms);
  }
  if (waits || !no_board_ || stage == Stage::probing || stage == Stage::repairing) return;
  no_board_ = false;
  end_compiling_ahead("a board is there, or none is wanted");
}

void ProgramRunner::do_purge(const std::string& serial) {
  const bool own_worker = program_.command.empty();
  auto folders = folders_to_purge(services_.paths, state_, serial, own_worker);
  in_background("purge the compile caches",
                [this, folders = std::move(folders)]() -> std::function<void()> {
                  auto error = purge_folders(folders);
                  return [this, error = std::move(error)] {
                    handle(core::Repaired{core::Remedy::purge_caches, error});
                  };
                });
}

void ProgramRunner::do_select(std::int64_t below) {
  const auto root = services_.paths.checkpoints(program_.name);
  const std::string what = "look for the newest verified checkpoint in " + root.string();
  in_background(what, [this, root, below, program = program_]() -> std::function<void()> {
    const bool foreign = has_foreign_checkpoints(program);
    if (below > 0 && !foreign) {
      if (auto gone = checkpoint::roll_back(root, below); !gone) {
        return [this, what = gone.error().message()] {
          handle(core::CheckpointSelected{"", 0, what});
        };
      }
    }
    auto selection =
        foreign ? select_foreign_checkpoint(program, root, below) : checkpoint::select(root);
    return [this, selection = std::move(selection)] {
      if (!selection) {
        return handle(core::CheckpointSelected{"", 0, selection.error().message()});
      }
      for (const checkpoint::Rejected& bad : selection->rejected) {
        handle(core::CheckpointRejected{bad.original.string(), bad.step, bad.path.string(),
                                        bad.reason});
      }
      if (!selection->chosen) return handle(core::CheckpointSelected{});
      handle(
          core::CheckpointSelected{selection->chosen->path.string(), selection->chosen->step, ""});
    };
  });
}

// Ending what is left may take seconds; a stop may be asked for meanwhile.
void ProgramRunner::do_launch(const core::Launch& order) {
  fault_point("launch.decided");
  launching_ = true;
  end_leftovers_then([this, order](const Status& ended) {
    launching_ = false;
    const core::State& state = newest();
    if (state.attempt != order.attempt || !core::has_worker(state.stage)) return;
    if (state.stage != core::Stage::launching) {
      return handle(core::AttemptLost{"it was to end before it was launched"});
    }
    if (ended) return launch_now(order);
    handle(core::LaunchFailed{ended.error().message(), ended.error().kind != ErrorKind::usage});
  });
}

void ProgramRunner::launch_now(const core::Launch& order) {
  LaunchOrder what{order.attempt, recorder_.attempt().nonce, board(order.board), order.resume_from,
                   order.plan,    state_.resume_step};
  for (const std::string& serial : order.more_boards) {
    if (const hwprobe::Board* found = board(serial)) what.more_boards.push_back(found);
  }
  what.place = place_;
  auto pid = launch(program_, what, services_.paths, std::exchange(leases_, {}));
  fault_point("launch.done");
  if (pid) {
    follow(order.attempt);
    auto watched = attempt_->watch_child(*pid);
    if (watched) return;
    pid = tl::unexpected<Error>(watched.error());
  }
  handle(core::LaunchFailed{pid.error().message(), pid.error().kind != ErrorKind::usage});
}

void ProgramRunner::do_signal(core::Signal signal) {
  if (!attempt_) return;
  fault_point("signal.decided");
  const core::State& state = newest();
  const bool hangs =
      signal == core::Signal::kill && state.kill && state.kill->cause == core::Cause::hang;
  if (hangs && worker_) {
    // What it was waiting for, before nobody can tell any more.
    if (auto report = worker_->thread_report(); !report.empty()) {
      handle(core::HostFact{"threads", 5, core::Cause::hang, std::move(report)});
    }
  }
  if (auto trouble = attempt_->shim_trouble(); !trouble.empty()) {
    handle(core::HostFact{"shim", 5, core::Cause::unknown, std::move(trouble)});
  }
  if (auto sent = attempt_->send(signal, state.kills_sent); !sent) {
    spdlog::warn("{}: {}", program_.name, sent.error().message());
  }
}

void ProgramRunner::watch_worker() {
  if (state_.pid == 0 || !attempt_ || !attempt_->shim() || !core::has_worker(state_.stage)) return;
  if (!worker_) {
    std::vector<std::string> bus_ids;
    const auto add = [&](const std::string& serial) {
      const hwprobe::Board* found = board(serial);
      if (found != nullptr && !found->bus_id.empty()) bus_ids.push_back(found->bus_id);
    };
    add(state_.board);
    for (const core::HeldBoard& held : state_.more_boards) add(held.serial);
    worker_ = std::make_shared<WorkerWatch>(
        services_.machine,
        WatchedWorker{static_cast<pid_t>(state_.pid), attempt_->shim()->pid, std::move(bus_ids),
                      services_.paths.caches(state_.board)},
        [this](core::HostFact fact) { handle(std::move(fact)); });
    watch_boards();
  }
  if (state_.stage != core::Stage::training || !worker_->sample_due(now().mono_ms)) return;
  look_at_processes([this, worker = worker_->processes()]() -> std::function<void()> {
    auto sample = worker->memory();
    return [this, sample] {
      if (sample) handle(*sample);
    };
  });
}

void ProgramRunner::watch_boards() {
  if (program_.sample_every_ms == 0 || state_.board.empty()) return;
  BoardWatch::Order order;
  const auto add = [&](const std::string& serial) {
    const hwprobe::Board* found = board(serial);
    WatchedBoard watched{serial, found == nullptr ? "" : found->bus_id};
    // A daemon that took the worker over has not looked at the boards.
    if (found == nullptr) watched.bus_id = services_.store.board_bus_id(serial).value_or("");
    order.boards.push_back(std::move(watched));
  };
  add(state_.board);
  for (const core::HeldBoard& more : state_.more_boards) add(more.serial);
  order.program = program_.name;
  order.attempt = state_.attempt;
  order.host = program_.host;
  order.every_ms = program_.sample_every_ms;
  board_watch_ = std::make_unique<BoardWatch>(
      services_.loop, processes_, services_.paths, services_.store, std::move(order),
      [this](core::HostFact fact) { handle(std::move(fact)); });
}

void ProgramRunner::do_check_activity() {
  if (!worker_) return;
  look_at_processes([this, worker = worker_->processes()]() -> std::function<void()> {
    auto seen = worker->activity();
    return [this, seen] {
      if (seen) handle(*seen);
    };
  });
}

void ProgramRunner::do_verify(const core::VerifyCheckpoint& order) {
  ++verifying_;
  verify_in_background(order, verify_tries);
}

void ProgramRunner::verify_in_background(const core::VerifyCheckpoint& order, int tries) {
  in_background(
      "verify " + order.path,
      [this, order, tries, program = program_,
       root = services_.paths.checkpoints(program_.name)]() -> std::function<void()> {
        // Of the folder before it was read: what replaces it meanwhile has not been
        // verified.
        std::string identity = checkpoint::identity(order.path);
        auto summary = verify_checkpoint(program, root, order.path);
        return [this, order, tries, summary = std::move(summary), identity = std::move(identity)] {
          // Without memory or descriptors nothing is known of it; soon there may be some.
          const bool later = !summary && tries > 1 && summary.error().kind == ErrorKind::transient;
          if (later) {
            auto soon = std::make_shared<Timer>(services_.loop);
            return soon->after(verify_again_ms, [this, alive = alive_, soon, order, tries] {
              if (*alive) verify_in_background(order, tries - 1);
            });
          }
          core::CheckpointVerified event{order.attempt, order.path, order.step, 0, ""};
          if (summary) {
            event.step = summary->step;
            event.bytes = summary->bytes;
            verified_[order.path] = identity;
          } else {
            event.error = summary.error().message();
          }
          --verifying_;
          handle(std::move(event));
          deliver_exit();
        };
      });
}

void ProgramRunner::do_prune() {
  std::vector<std::filesystem::path> held;
  if (!state_.resume_from.empty()) held.emplace_back(state_.resume_from);
  checkpoint::Retention retention{
      program_.checkpoints_keep, program_.checkpoints_keep_every, std::move(held), {}};
  // Each was read from the disk when it was reported; that need not be done again after every save.
  retention.known_good = [verified = verified_](const std::filesystem::path& folder) {
    const auto found = verified.find(folder.string());
    return found != verified.end() && found->second == checkpoint::identity(folder);
  };
  const auto root = services_.paths.checkpoints(program_.name);
  in_background(
      "prune the checkpoints in " + root.string(),
      [this, root, retention = std::move(retention)]() -> std::function<void()> {
        auto pruned = checkpoint::prune(root, retention);
        return [this, pruned = std::move(pruned)] {
          if (!pruned) {
            spdlog::warn("{}: old checkpoints stay: {}", program_.name, pruned.error().message());
            return;
          }
          for (const auto& path : pruned->removed) {
            verified_.erase(path.string());
            auto noted = services_.store.mark_checkpoint(program_.name, path.string(), "pruned");
            if (!noted) spdlog::warn("{}: {}", program_.name, noted.error().message());
          }
        };
      });
}

}  // namespace trainward::daemon
