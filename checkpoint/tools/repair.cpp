#include "checkpoint/tools/repair.hpp"

#include <algorithm>

#include "checkpoint/disk/latest.hpp"
#include "checkpoint/disk/root_folder.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/judge.hpp"
#include "checkpoint/progress.hpp"
#include "checkpoint/tools/repair_plan.hpp"
#include "common/os/file.hpp"

namespace trainward::checkpoint {
namespace fs = std::filesystem;
namespace {

using Action = Repair::Action;

// Carries out what the planner has decided, unless the folder is another one by now.
void carry_out(Repair::Step& step, const std::string& judged) {
  if (identity(step.path) != judged) {
    step.problem = "it changed while it was being looked at";
    return;
  }
  Status done;
  if (step.action == Action::set_aside) {
    auto aside = set_aside(step.path, name::corrupt);
    if (aside) {
      step.to = std::move(*aside);
    } else {
      done = propagate(aside);
    }
  } else {
    done = move_to_free_name(step.path, step.to);
  }
  if (!done) step.problem = done.error().message();
}

// `latest` is only moved when what it names is not the newest good one. A writer may have gone on
// meanwhile: then it names something newer, which was proven when it was written.
void point_at_newest(const fs::path& root, bool dry_run, Repair& repair) {
  const std::string named = read_latest(root);
  const std::string newest = repair.good.empty() ? "" : last_component(repair.good.front().path);
  if (named == newest) return;
  const auto named_step = step_from_name(named);
  const bool judged =
      std::any_of(repair.steps.begin(), repair.steps.end(), [&](const Repair::Step& step) {
        return step.action == Action::set_aside && last_component(step.path) == named;
      });
  if (!judged && named_step && !identity(root / named).empty() &&
      (repair.good.empty() || *named_step > repair.good.front().step)) {
    return;
  }
  const bool missing = identity(root / name::latest).empty();
  if (newest.empty() && missing) return;
  Repair::Step step{Action::pointed_latest,
                    root / name::latest,
                    newest,
                    !named.empty() ? "it named '" + named + "'"
                    : missing      ? "it was missing"
                                   : "it named nothing",
                    {}};
  if (!dry_run) {
    restore_latest(root, newest);
    if (read_latest(root) != newest) {
      step.problem = newest.empty() ? "it could not be removed" : latest_problem(root / newest);
    }
  }
  repair.steps.push_back(std::move(step));
}

void remove_leftovers(const fs::path& root, bool dry_run, Repair& repair) {
  const std::vector<fs::path> found = leftovers(root);
  if (!dry_run) clean_up(root);
  for (const fs::path& path : found) {
    Repair::Step step{Action::removed, path, {}, "its writer is gone", {}};
    const std::string name = path.filename().string();
    const fs::path home = root / name.substr(std::min(name.size(), name::replaced.size()));
    const bool old = name.starts_with(name::replaced);
    if (old &&
        (dry_run ? identity(home).empty() : !identity(home).empty() && identity(path).empty())) {
      step = {Action::brought_back, path, home, "a replacement was interrupted", {}};
    }
    if (!dry_run && !identity(path).empty()) step.problem = "it could not be removed";
    repair.steps.push_back(std::move(step));
  }
}

// An error only when `io` ends it.
Status judge_all(const std::vector<Candidate>& candidates, const IoOptions& io, Planner& planner) {
  std::uint64_t total = 0;
  for (const Candidate& candidate : candidates) total += candidate.bytes();
  Status stopped;
  std::uint64_t before = 0;
  for (const Candidate& candidate : candidates) {
    const std::uint64_t bytes = candidate.bytes();
    const Progress part = part_of(io.progress, before, total);
    // A verdict that is only the end of the operation is no verdict.
    const IoOptions of_one{noting_end(part, stopped), io.make_queue};
    const std::string judged = identity(candidate.path);
    auto verdict = judge(candidate.path, of_one);
    if (!stopped) return stopped;
    if (verdict) planner.take(candidate, std::move(*verdict), judged);
    before += bytes;
  }
  return {};
}

}  // namespace

bool Repair::complete() const {
  return std::all_of(steps.begin(), steps.end(),
                     [](const Step& step) { return step.problem.empty(); });
}

std::string_view to_string(Action action) {
  switch (action) {
    case Action::set_aside:
      return "set_aside";
    case Action::brought_back:
      return "brought_back";
    case Action::removed:
      return "removed";
    case Action::pointed_latest:
      return "pointed_latest";
  }
  return "";
}

Result<Repair> repair(const fs::path& root, bool dry_run, const IoOptions& io) {
  Repair result;
  remove_leftovers(root, dry_run, result);
  auto candidates = candidates_in(root);
  if (!candidates) return propagate(candidates);
  for (const Repair::Step& step : result.steps) {
    // Only told of, so it lies under its other name still.
    if (!dry_run || step.action != Action::brought_back) continue;
    if (const auto number = step_from_name(last_component(step.to))) {
      candidates->push_back({step.path, *number, false});
    }
  }
  Planner planner(root, result);
  if (auto ok = judge_all(*candidates, io, planner); !ok) return propagate(ok);
  for (Planned& planned : planner.finish()) {
    if (!dry_run) carry_out(planned.step, planned.identity);
    result.steps.push_back(std::move(planned.step));
  }
  std::sort(result.good.begin(), result.good.end(),
            [](const Summary& a, const Summary& b) { return a.step > b.step; });
  if (!dry_run) {
    // What could not be brought back is not there to be pointed at.
    std::erase_if(result.good, [](const Summary& one) { return identity(one.path).empty(); });
    std::error_code ignored;
    if (fs::is_directory(root, ignored)) (void)fsync_folder(root);
  }
  point_at_newest(root, dry_run, result);
  return result;
}

}  // namespace trainward::checkpoint
