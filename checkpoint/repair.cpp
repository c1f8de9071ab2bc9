#include "checkpoint/repair.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <set>
#include <tuple>

#include "checkpoint/disk/latest.hpp"
#include "checkpoint/disk/root_folder.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/judge.hpp"
#include "checkpoint/progress.hpp"
#include "common/file.hpp"

namespace trainward::checkpoint {
namespace fs = std::filesystem;
namespace {

using Action = Repair::Action;

struct Candidate {
  fs::path path;
  std::int64_t step = 0;
  bool aside = false;  // lies under `.corrupt-…`
};

// The step of ".corrupt-step-00000040" and of ".corrupt-step-00000040-2".
std::optional<std::int64_t> step_of_aside(std::string_view name) {
  if (!name.starts_with(name::corrupt)) return std::nullopt;
  name.remove_prefix(name::corrupt.size());
  if (const auto step = step_from_name(name)) return step;
  const std::size_t dash = name.rfind('-');
  if (dash == 0 || dash == std::string_view::npos || dash + 1 == name.size()) return std::nullopt;
  if (name.find_first_not_of("0123456789", dash + 1) != std::string_view::npos) return std::nullopt;
  return step_from_name(name.substr(0, dash));
}

Result<std::vector<Candidate>> folders_aside(const fs::path& root) {
  std::vector<Candidate> found;
  std::error_code error;
  fs::directory_iterator entries(root, error);
  if (error == std::errc::no_such_file_or_directory) return found;
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const auto step = step_of_aside(entries->path().filename().string());
    std::error_code ignored;
    if (step && entries->symlink_status(ignored).type() == fs::file_type::directory) {
      found.push_back({entries->path(), *step, true});
    }
  }
  if (error) return fail_errno(error.value(), "list the folder", root.string());
  // The newest first; of one step the one that was set aside last, which has the highest number.
  const auto rank = [](const Candidate& candidate) {
    const std::string& path = candidate.path.native();
    return std::tuple(candidate.step, path.size(), path);
  };
  std::sort(found.begin(), found.end(),
            [&](const Candidate& a, const Candidate& b) { return rank(a) > rank(b); });
  return found;
}

Result<std::vector<Candidate>> candidates_in(const fs::path& root) {
  auto folders = step_folders(root);
  if (!folders) return propagate(folders);
  std::vector<Candidate> all;
  for (fs::path& folder : *folders) {
    const auto step = step_from_name(folder.filename().string()).value_or(0);
    all.push_back({std::move(folder), step, false});
  }
  auto aside = folders_aside(root);
  if (!aside) return propagate(aside);
  std::move(aside->begin(), aside->end(), std::back_inserter(all));
  return all;
}

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t sum = 0;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    std::error_code ignored;
    if (entries->symlink_status(ignored).type() != fs::file_type::regular) continue;
    const auto size = entries->file_size(ignored);
    if (!ignored) sum += size;
  }
  return sum;
}

struct Planned {
  Repair::Step step;
  std::string identity;  // of the folder that was judged
};

// What is to be done with the checkpoints: decided from verdicts, before anything is changed.
class Planner {
 public:
  Planner(fs::path root, Repair& repair) : root_(std::move(root)), repair_(repair) {}

  void judge(const Candidate& candidate, Result<Summary> verdict, std::string identity) {
    if (verdict && verdict->step != candidate.step) {
      verdict =
          fail(ErrorKind::corrupt, fmt::format("holds a checkpoint of step {}", verdict->step),
               candidate.path.string());
    }
    const bool damaged = !verdict && verdict.error().kind == ErrorKind::corrupt;
    if (!candidate.aside && !damaged) taken_.insert(candidate.step);
    if (!verdict) {
      const std::string reason = verdict.error().message();
      if (!damaged) return leave(candidate, reason);
      // What lies aside already and is damaged still is where it belongs.
      if (candidate.aside) return;
      planned_.push_back(
          {{Action::set_aside, candidate.path, {}, reason, {}}, std::move(identity)});
      return;
    }
    if (candidate.aside) {
      const fs::path home = root_ / step_name(candidate.step);
      if (!taken_.insert(candidate.step).second) {
        repair_.spare.push_back(std::move(*verdict));
        return;
      }
      planned_.push_back(
          {{Action::brought_back, candidate.path, home, "it is whole", {}}, std::move(identity)});
    }
    verdict->path = root_ / step_name(candidate.step);
    repair_.good.push_back(std::move(*verdict));
  }

  std::vector<Planned> take() { return std::move(planned_); }

 private:
  void leave(const Candidate& candidate, std::string reason) {
    repair_.left_alone.push_back(
        {candidate.path, std::move(reason), candidate.path, candidate.step});
  }

  fs::path root_;
  Repair& repair_;
  std::vector<Planned> planned_;
  std::set<std::int64_t> taken_;  // steps whose name is in use after the repair
};

Status bring_back(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if ((errno == EINVAL || errno == ENOSYS) && identity(to).empty() &&
      ::rename(from.c_str(), to.c_str()) == 0) {
    return {};
  }
  return fail_errno(errno, "rename the folder to '" + to.filename().string() + "'", from.string());
}

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
    done = bring_back(step.path, step.to);
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
  Repair::Step step{Action::pointed_latest,
                    root / name::latest,
                    newest,
                    named.empty() ? "it was missing" : "it named '" + named + "'",
                    {}};
  if (!dry_run) {
    restore_latest(root, newest);
    if (read_latest(root) != newest) step.problem = "it could not be written";
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
  for (const Candidate& candidate : candidates) total += bytes_in(candidate.path);
  Status stopped;
  std::uint64_t before = 0;
  for (const Candidate& candidate : candidates) {
    const std::uint64_t bytes = bytes_in(candidate.path);
    const Progress part = part_of(io.progress, before, total);
    IoOptions of_one{{}, io.make_queue};
    if (part) {
      // A verdict that is only the end of the operation is no verdict.
      of_one.progress = [&](std::uint64_t done, std::uint64_t all) -> Status {
        return stopped = part(done, all);
      };
    }
    auto verdict = judge(candidate.path, of_one);
    if (!stopped) return stopped;
    if (verdict) planner.judge(candidate, std::move(*verdict), identity(candidate.path));
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
  for (Planned& planned : planner.take()) {
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
