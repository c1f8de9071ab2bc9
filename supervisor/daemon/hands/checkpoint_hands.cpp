#include "supervisor/daemon/hands/checkpoint_hands.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/disk/root_folder.hpp"
#include "checkpoint/retention.hpp"
#include "common/os/clock.hpp"
#include "supervisor/config/program_policy.hpp"
#include "supervisor/daemon/attempt/worker_folders.hpp"
#include "supervisor/daemon/checkpoints/missing.hpp"
#include "supervisor/daemon/hands/foreign_checkpoints.hpp"
#include "supervisor/evidence/foreign/checkpoints/find.hpp"
#include "supervisor/evidence/foreign/checkpoints/foreign_retention.hpp"
#include "supervisor/orders/orders.hpp"
#include "supervisor/record/outbox/record.hpp"
#include "supervisor/record/uploads/uploads.hpp"

namespace trainward::daemon {
namespace {

constexpr int verify_tries = 30;
constexpr std::int64_t verify_again_ms = 1'000;

// What is on its way to some target stays until it has arrived. Asked as the daemon: the program's
// user need not be allowed to read the courier's record.
void hold_uploads(const config::Program& program, const Paths& paths,
                  std::vector<std::filesystem::path>& held) {
  if (program.upload.targets.empty()) return;
  std::vector<std::string> targets;
  for (const orders::Target& target : program.upload.targets) targets.push_back(target.name);
  for (auto& path :
       upload::held_checkpoints(paths.state / courier::journal_name, program.name, targets)) {
    held.push_back(std::move(path));
  }
}

// "checkpoint-500, checkpoint-600 and 3 more".
std::string names_of(const std::vector<std::filesystem::path>& paths) {
  constexpr std::size_t shown = 5;
  std::string names;
  for (std::size_t i = 0; i < std::min(paths.size(), shown); ++i) {
    names += (i == 0 ? "" : ", ") + paths[i].filename().string();
  }
  return paths.size() <= shown ? names : fmt::format("{} and {} more", names, paths.size() - shown);
}

}  // namespace

struct CheckpointHands::Choice {
  core::SelectCheckpoint order;
  Kept kept;
  std::int64_t number = 0;
};

void CheckpointHands::select(const core::SelectCheckpoint& order) {
  // What a run is taken back from must not come back from elsewhere.
  may_restore_ = !order.below && c_.program.upload.restore && !c_.program.upload.targets.empty();
  restore_.reset();
  select_here(order);
}

void CheckpointHands::turned() {
  if (restore_ && c_.session->state().stage != core::Stage::selecting) restore_.reset();
}

void CheckpointHands::select_here(const core::SelectCheckpoint& order) {
  const core::History& history = c_.session->state().history;
  Choice choice{order, {}, ++choices_};
  // Taking a run back means doing without the checkpoint that was kept.
  if (!order.below) {
    choice.kept = {history.kept_path, history.kept_in, history.kept_step.number,
                   !has_foreign_checkpoints(c_.program) || config::is_told_to_resume(c_.program)};
    if (history.kept_path.empty()) {
      choice.kept.path = history.seen_path;
      choice.kept.verified = false;
    }
  }
  if (has_foreign_checkpoints(c_.program)) return select_foreign(choice);
  select_ours(choice);
}

void CheckpointHands::select_ours(const Choice& choice) {
  const auto root = c_.services.paths.checkpoints(c_.name());
  const std::string what = "look for the newest verified checkpoint in " + root.string();
  c_.in_background(
      what,
      [this, root, choice, program = c_.program, paths = c_.services.paths]() -> Background::Then {
        const InItsFolders acting(program, paths);
        if (!acting) return [this, choice, why = acting.why()] { judge(choice, why); };
        if (choice.order.below) {
          if (auto gone = checkpoint::roll_back(root, choice.order.below.number); !gone) {
            return [this, choice, why = propagate(gone)] { judge(choice, why); };
          }
        }
        return [this, choice, selection = checkpoint::select(root)] { judge(choice, selection); };
      });
}

// What has no step in its name or in it is of the step that was done when it was written, which the
// database knows.
void CheckpointHands::select_foreign(const Choice& choice) {
  const auto root = c_.services.paths.checkpoints(c_.name());
  tell_of_earlier_ones();
  c_.in_background(
      "look for its newest checkpoint",
      [this, root, choice, program = c_.program, paths = c_.services.paths]() -> Background::Then {
        const InItsFolders acting(program, paths);
        if (!acting) return [this, choice, why = acting.why()] { judge(choice, why); };
        return [this, root, choice,
                candidates = foreign_candidates(program, root, choice.order.since)]() mutable {
          for (foreign::Candidate& candidate : candidates) {
            if (candidate.step) continue;
            const auto step =
                c_.services.store.step_at(c_.name(), candidate.modified_ns / 1'000'000);
            candidate.step = step.value_or(std::nullopt);
          }
          foreign::sort_newest_first(candidates);
          c_.in_background("verify its newest checkpoint",
                           [this, root, choice, program = c_.program, paths = c_.services.paths,
                            candidates = std::move(candidates)]() -> Background::Then {
                             const InItsFolders acting(program, paths);
                             auto selection =
                                 acting ? select_foreign_checkpoint(program, root, candidates,
                                                                    choice.order.below.number)
                                        : Result<checkpoint::Selection>(acting.why());
                             return [this, choice, selection = std::move(selection)] {
                               judge(choice, selection);
                             };
                           });
        };
      });
}

// What had verified is looked for where it was, before anything begins without it.
void CheckpointHands::judge(const Choice& choice, const Result<checkpoint::Selection>& selection) {
  if (choice.number != choices_) return;
  if (!selection) return tell_selected(selection);
  c_.in_background(
      "look for the checkpoint that it kept",
      [this, choice, selection, program = c_.program,
       paths = c_.services.paths]() -> Background::Then {
        const InItsFolders acting(program, paths);
        auto gone = acting ? missing(choice.kept, *selection) : std::nullopt;
        std::string folder =
            acting && selection->chosen ? folder_of(selection->chosen->path) : std::string();
        return [this, choice, selection, gone = std::move(gone), folder = std::move(folder)] {
          if (choice.number != choices_) return;
          folder_ = folder;
          gone_ = gone ? gone->why : "";
          // Elsewhere one may be left; beneath a mount point nothing is to be put.
          const bool elsewhere = may_restore_ && gone && gone->folder_there;
          if (!gone || elsewhere) return tell_selected(selection);
          tell_rejected(*selection);
          wait(gone_ + "; waiting for it");
        };
      });
}

void CheckpointHands::wait(const std::string& why) {
  c_.handle(core::CheckpointSelected{
      "",
      {},
      fmt::format("{}. To begin at step 0 now: trainwardctl start {} --from-scratch", why,
                  c_.name()),
      true});
}

void CheckpointHands::tell_selected(const Result<checkpoint::Selection>& selection) {
  const bool nothing = selection && !selection->chosen;
  if (nothing && std::exchange(may_restore_, false)) return consider_restore(*selection);
  tell(selection);
}

// A program that finds its own place is told of none, and has one all the same.
void CheckpointHands::consider_restore(const checkpoint::Selection& selection) {
  if (!has_foreign_checkpoints(c_.program) || config::is_told_to_resume(c_.program)) {
    return restore();
  }
  c_.in_background(
      "look whether it has a checkpoint",
      [this, selection, program = c_.program, paths = c_.services.paths,
       root = c_.services.paths.checkpoints(c_.name())]() -> Background::Then {
        const InItsFolders acting(program, paths);
        const bool none =
            acting &&
            foreign::find_checkpoints(program.watch, {program.directory, root}).candidates.empty();
        return [this, selection, none] { none ? restore() : tell(selection); };
      });
}

void CheckpointHands::restore() {
  const Paths& paths = c_.services.paths;
  orders::Orders orders;
  orders.state_dir = paths.state.string();
  orders.database = (paths.state / "trainward.db").string();
  orders.uploads.push_back(config::upload_order_of(c_.program, paths.checkpoints(c_.name())));
  std::string places;
  for (const orders::Target& target : c_.program.upload.targets) {
    places += (places.empty() ? "'" : ", '") + target.name + "'";
  }
  asked_ = fmt::format("no checkpoint is here: training waits for {}", places);
  const std::string doing = fmt::format(
      "{}. To begin at step 0 now: trainwardctl start {} --from-scratch", asked_, c_.name());
  if (!std::exchange(told_of_asking_, true)) c_.note("waiting", doing);
  RestoreProcess::Told told;
  told.note = [this](const std::string& text) { c_.note("restore", text); };
  told.done = [this](Result<std::string> place, const std::string& words) {
    restored(std::move(place), words);
  };
  told.doing = doing;
  restore_ = std::make_unique<RestoreProcess>(c_.services.loop, paths.program("trainward-courier"),
                                              orders, std::move(told));
}

// Beginning at step 0 because a disk or the network is away would throw the run away: it waits, and
// asks again.
void CheckpointHands::restored(Result<std::string> place, const std::string& words) {
  restore_.reset();
  if (!place) return wait(asked_ + ", and none could be restored: " + place.error().message());
  if (place->empty() && !gone_.empty()) return wait(gone_ + "; no target has one");
  told_of_asking_ = false;
  c_.note(place->empty() ? "restore" : "restored", words);
  if (place->empty()) return tell(checkpoint::Selection{});
  select_here({});
}

void CheckpointHands::tell_rejected(const checkpoint::Selection& selection) {
  for (const checkpoint::Rejected& bad : selection.rejected) {
    c_.handle(
        core::CheckpointRejected{bad.original.string(), bad.step, bad.path.string(), bad.reason});
  }
}

void CheckpointHands::tell(const Result<checkpoint::Selection>& selection) {
  if (!selection) return c_.handle(core::CheckpointSelected{"", 0, selection.error().message()});
  tell_rejected(*selection);
  if (!selection->chosen) return c_.handle(core::CheckpointSelected{});
  const std::string path = selection->chosen->path.string();
  c_.handle(core::CheckpointSelected{path, selection->chosen->step, "", false, folder_});
}

void CheckpointHands::verify(const core::VerifyCheckpoint& order) { verify(order, verify_tries); }

void CheckpointHands::verify(const core::VerifyCheckpoint& order, int tries) {
  // What a living worker has not written yet may come.
  const core::State& state = c_.session->state();
  const auto pid = static_cast<pid_t>(state.current.pid);
  const bool alive = state.attempt == order.attempt && core::has_worker(state.stage) && pid > 0 &&
                     ::kill(pid, 0) == 0;
  c_.in_background(
      "verify " + order.path,
      [this, order, tries, writer = alive ? foreign::Writer::alive : foreign::Writer::gone,
       program = c_.program, paths = c_.services.paths,
       root = c_.services.paths.checkpoints(c_.name())]() -> Background::Then {
        const InItsFolders acting(program, paths);
        // Of the folder before it was read: what replaces it meanwhile has not been verified.
        std::string identity = checkpoint::identity(order.path);
        std::string folder = folder_of(order.path);
        auto summary = acting ? verify_checkpoint(program, root, order, writer)
                              : Result<checkpoint::Summary>(acting.why());
        return [this, order, tries, summary = std::move(summary), identity = std::move(identity),
                folder = std::move(folder)] {
          // Without memory or descriptors nothing is known of it; soon there may be some.
          const bool later = !summary && tries > 1 && summary.error().kind == ErrorKind::transient;
          if (later) {
            auto soon = std::make_shared<Timer>(c_.services.loop);
            return soon->after(verify_again_ms, [this, alive = c_.alive(), soon, order, tries] {
              if (*alive) verify(order, tries - 1);
            });
          }
          core::CheckpointVerified event{order.attempt, order.path, order.step, 0, ""};
          if (summary) {
            event.step = {summary->step};
            event.bytes = summary->bytes;
            event.folder = folder;
            verified_[order.path] = identity;
          } else {
            event.error = summary.error().message();
          }
          c_.handle(std::move(event));
        };
      });
}

void CheckpointHands::find_unjudged(std::int64_t attempt) {
  const auto root = c_.services.paths.checkpoints(c_.name());
  auto known = c_.services.store.newest_checkpoint(c_.name());
  if (!known) return c_.session->unjudged({});
  c_.in_background(
      "list the checkpoints in " + root.string(),
      [this, root, known = *known, attempt, program = c_.program,
       paths = c_.services.paths]() -> Background::Then {
        std::vector<core::VerifyCheckpoint> unjudged;
        const InItsFolders acting(program, paths);
        auto found = acting ? checkpoint::list(root)
                            : Result<std::vector<checkpoint::Summary>>(acting.why());
        for (const auto& summary : found ? *found : std::vector<checkpoint::Summary>{}) {
          if (summary.step <= known) break;  // newest first
          unjudged.push_back({attempt, summary.path.string(), summary.step});
        }
        return [this, unjudged = std::move(unjudged)] { c_.session->unjudged(unjudged); };
      });
}

void CheckpointHands::prune() {
  if (has_foreign_checkpoints(c_.program)) return prune_foreign();
  std::vector<std::filesystem::path> held;
  const std::string& resumed_from = c_.session->state().current.resume_from;
  if (!resumed_from.empty()) held.emplace_back(resumed_from);
  checkpoint::Retention retention{
      c_.program.checkpoints_keep, c_.program.checkpoints_keep_every, std::move(held), {}};
  // Each was read from the disk when it was reported; that need not be done again after every save.
  retention.known_good = [verified = verified_](const std::filesystem::path& folder) {
    const auto found = verified.find(folder.string());
    return found != verified.end() && found->second == checkpoint::identity(folder);
  };
  const auto root = c_.services.paths.checkpoints(c_.name());
  c_.in_background(
      "prune the checkpoints in " + root.string(),
      [this, root, retention = std::move(retention), program = c_.program,
       paths = c_.services.paths]() mutable -> Background::Then {
        hold_uploads(program, paths, retention.held);
        const InItsFolders acting(program, paths);
        auto pruned =
            acting ? checkpoint::prune(root, retention) : Result<checkpoint::Pruned>(acting.why());
        return [this, pruned = std::move(pruned)] {
          if (!pruned) {
            spdlog::warn("{}: old checkpoints stay: {}", c_.name(), pruned.error().message());
            return;
          }
          note_pruned(pruned->removed);
        };
      });
}

// When the run began whose checkpoints these are; nothing: that cannot be read now.
std::optional<WallTime> CheckpointHands::run_began() const {
  const auto first = c_.services.store.first_attempt_ms(c_.name());
  if (!first) return std::nullopt;
  const WallTime began = *first == 0 ? now().wall : WallTime{*first};
  return std::max(began, c_.session->state().history.from_scratch_wall_ms);
}

// What an earlier run has left where this one saves is neither counted nor removed.
void CheckpointHands::tell_of_earlier_ones() {
  if (!c_.program.prunes_foreign || std::exchange(told_of_earlier_ones_, true)) return;
  const auto began = run_began();
  if (!began) return;
  const foreign::Folders folders{c_.program.directory, c_.services.paths.checkpoints(c_.name())};
  c_.in_background(
      "look for checkpoints of an earlier run",
      [this, folders, began = *began, program = c_.program,
       paths = c_.services.paths]() -> Background::Then {
        const InItsFolders acting(program, paths);
        std::vector<std::filesystem::path> earlier;
        if (acting) {
          for (auto& candidate : foreign::find_checkpoints(program.watch, folders).candidates) {
            if (candidate.modified_ns < began.ms * 1'000'000) {
              earlier.push_back(std::move(candidate.path));
            }
          }
        }
        return [this, earlier = std::move(earlier)] {
          if (earlier.empty()) return;
          c_.note("earlier", "older than this run, and left as they are: " + names_of(earlier));
        };
      });
}

void CheckpointHands::prune_foreign() {
  if (!c_.program.prunes_foreign) return;
  const std::optional<WallTime> began = run_began();
  if (!began) return;
  foreign::Retention retention{
      c_.program.checkpoints_keep, c_.program.checkpoints_keep_every, {}, began->ms * 1'000'000};
  const std::string& resumed_from = c_.session->state().current.resume_from;
  if (!resumed_from.empty()) retention.held.emplace_back(resumed_from);
  const foreign::Folders folders{c_.program.directory, c_.services.paths.checkpoints(c_.name())};
  c_.in_background("prune its checkpoints",
                   [this, folders, retention = std::move(retention), program = c_.program,
                    paths = c_.services.paths]() mutable -> Background::Then {
                     hold_uploads(program, paths, retention.held);
                     const InItsFolders acting(program, paths);
                     auto pruned = acting ? foreign::prune(program.watch, folders, retention)
                                          : foreign::Pruned{{}, {acting.why().value().message()}};
                     return [this, pruned = std::move(pruned)] {
                       if (!pruned.removed.empty()) {
                         c_.note("checkpoint",
                                 "removed, as newer ones are kept: " + names_of(pruned.removed));
                       }
                       for (const std::string& problem : pruned.problems) {
                         spdlog::warn("{}: an old checkpoint stays: {}", c_.name(), problem);
                       }
                       note_pruned(pruned.removed);
                     };
                   });
}

void CheckpointHands::note_pruned(const std::vector<std::filesystem::path>& removed) {
  for (const auto& path : removed) {
    verified_.erase(path.string());
    auto noted = c_.services.store.mark_checkpoint(c_.name(), path.string(), "pruned");
    if (!noted) spdlog::warn("{}: {}", c_.name(), noted.error().message());
  }
}

}  // namespace trainward::daemon
