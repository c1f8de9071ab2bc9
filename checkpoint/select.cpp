#include "checkpoint/checkpoint.hpp"
#include "checkpoint/disk/folder_io.hpp"
#include "checkpoint/disk/latest.hpp"
#include "checkpoint/disk/root_folder.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/judge.hpp"
#include "checkpoint/verified.hpp"

namespace trainward::checkpoint {
namespace fs = std::filesystem;
namespace {

// Only damage is set aside: a disk that cannot be read now, or a newer format, is no reason to hide
// a checkpoint from software that can read it.
Rejected reject(const fs::path& folder, const Error& error) {
  Rejected rejected{folder, error.message(), folder,
                    step_from_name(folder.filename().string()).value_or(0)};
  if (error.kind != ErrorKind::corrupt) return rejected;
  auto aside = set_aside(folder, name::corrupt);
  if (aside) {
    rejected.path = std::move(*aside);
  } else {
    rejected.reason += "; it could not be set aside: " + aside.error().message();
  }
  return rejected;
}

// `latest` must not keep naming a folder that has been set aside, now or by an earlier look that
// could not choose, or one that is older than what was chosen because it could not be written then.
// Words that are not ours stay.
void repair_latest(const fs::path& root, const Selection& selection) {
  const std::string latest = read_latest(root);
  const auto named = step_from_name(latest);
  const bool missing = latest.empty() && identity(root / name::latest).empty();
  const bool gone = named && identity(root / latest).empty();
  const bool older = selection.chosen && (missing || (named && *named < selection.chosen->step));
  if (!gone && !older) return;
  restore_latest(root, selection.chosen ? last_component(selection.chosen->path) : std::string());
}

Result<Summary> read_summary(const fs::path& folder) {
  auto fd = open_folder(folder);
  if (!fd) return propagate(fd);
  auto file = open_member(fd->get(), name::manifest, folder);
  if (!file) return propagate(file);
  auto text = read_member(*file, max_manifest_bytes, folder / name::manifest);
  if (!text) return propagate(text);
  auto manifest = parse_manifest(*text, (folder / name::manifest).string());
  if (!manifest) return propagate(manifest);
  return summarize(folder, *manifest, text->size());
}

}  // namespace

Result<std::vector<Summary>> list(const fs::path& root) {
  auto folders = step_folders(root);
  if (!folders) return propagate(folders);
  std::vector<Summary> summaries;
  for (const fs::path& folder : *folders) {
    if (auto summary = read_summary(folder)) summaries.push_back(std::move(*summary));
  }
  return summaries;
}

Result<Selection> select(const fs::path& root, std::int64_t max_step, const IoOptions& io) {
  clean_up(root);
  auto folders = step_folders(root);
  if (!folders) return propagate(folders);
  Selection selection;
  std::optional<Error> unreadable;
  for (const fs::path& folder : *folders) {
    if (step_from_name(folder.filename().string()).value_or(INT64_MAX) > max_step) continue;
    auto verdict = judge(folder, io);
    if (!verdict) continue;
    if (*verdict) {
      selection.chosen = std::move(**verdict);
      break;
    }
    // It may be whole, and the steps since the one before it would be lost.
    if (verdict->error().kind == ErrorKind::transient) return propagate(*verdict);
    if (verdict->error().kind != ErrorKind::corrupt && !unreadable) unreadable = verdict->error();
    selection.rejected.push_back(reject(folder, verdict->error()));
  }
  // An unreadable disk is no reason to start over.
  if (!selection.chosen && unreadable) return tl::unexpected<Error>(std::move(*unreadable));
  repair_latest(root, selection);
  return selection;
}

Result<std::vector<std::int64_t>> roll_back(const fs::path& root, std::int64_t below) {
  auto folders = step_folders(root);
  if (!folders) return propagate(folders);
  std::vector<std::int64_t> gone;
  std::string newest_left;
  for (const fs::path& folder : *folders) {
    const std::int64_t step = step_from_name(folder.filename().string()).value_or(0);
    if (step < below) {
      newest_left = folder.filename().string();
      break;
    }
    if (auto aside = set_aside(folder, name::rolled_back); !aside) return propagate(aside);
    gone.push_back(step);
  }
  if (!gone.empty()) restore_latest(root, newest_left);
  return gone;
}

}  // namespace trainward::checkpoint
