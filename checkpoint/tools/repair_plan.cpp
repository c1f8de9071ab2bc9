#include "checkpoint/tools/repair_plan.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>

#include "checkpoint/disk/root_folder.hpp"
#include "checkpoint/format/names.hpp"

namespace trainward::checkpoint {
namespace fs = std::filesystem;
namespace {

using Action = Repair::Action;

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

}  // namespace

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

std::uint64_t Candidate::bytes() const {
  std::uint64_t sum = 0;
  std::error_code error;
  fs::directory_iterator entries(path, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    std::error_code ignored;
    if (entries->symlink_status(ignored).type() != fs::file_type::regular) continue;
    const auto size = entries->file_size(ignored);
    if (!ignored) sum += size;
  }
  return sum;
}

void Planner::take(const Candidate& candidate, Result<Summary> verdict, std::string identity) {
  if (verdict && verdict->step != candidate.step) {
    verdict = fail(ErrorKind::corrupt, fmt::format("holds a checkpoint of step {}", verdict->step),
                   candidate.path.string());
  }
  const bool damaged = !verdict && verdict.error().kind == ErrorKind::corrupt;
  if (!candidate.aside && !damaged) taken_.insert(candidate.step);
  if (!verdict) {
    const std::string reason = verdict.error().message();
    if (!damaged) return leave(candidate, reason);
    // What lies aside already and is damaged still is where it belongs.
    if (candidate.aside) return;
    planned_.push_back({{Action::set_aside, candidate.path, {}, reason, {}}, std::move(identity)});
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

void Planner::leave(const Candidate& candidate, std::string reason) {
  repair_.left_alone.push_back({candidate.path, std::move(reason), candidate.path, candidate.step});
}

}  // namespace trainward::checkpoint
