#include "supervisor/daemon/checkpoints/foreign_checkpoints.hpp"

#include <spdlog/spdlog.h>

#include "supervisor/config/policy.hpp"
#include "supervisor/foreign/verify.hpp"

namespace trainward::daemon {
namespace {

checkpoint::Summary summary_of(const foreign::CheckpointFile& file) {
  checkpoint::Summary summary;
  summary.path = file.path;
  summary.step = file.step;
  summary.bytes = file.bytes;
  summary.created_wall_ms = file.modified_ns / 1'000'000;
  return summary;
}

}  // namespace

std::unique_ptr<ForeignWatch> watch_foreign(Services& services, InBackground in_background,
                                            const config::Program& program,
                                            const std::filesystem::path& attempt_folder,
                                            const core::State& state,
                                            std::function<void(foreign::Events)> sink) {
  const foreign::WatchSpec& watch = program.watch;
  if (!foreign::looks_at_folders(watch) && !foreign::reads_output(watch)) return nullptr;
  const foreign::Folders folders{program.directory, services.paths.checkpoints(program.name)};
  const ForeignWatch::Known known{!state.current.first_step ? 0 : state.current.last_step.number,
                                  state.history.kept_step.number, state.current.resume_step.number};
  return std::make_unique<ForeignWatch>(services.loop, services.watcher, std::move(in_background),
                                        watch, folders, attempt_folder, known, std::move(sink));
}

bool has_foreign_checkpoints(const config::Program& program) {
  return !program.watch.checkpoints.empty();
}

Result<checkpoint::Selection> select_foreign_checkpoint(const config::Program& program,
                                                        const std::filesystem::path& root,
                                                        std::int64_t below_step) {
  checkpoint::Selection out;
  if (!config::is_told_to_resume(program)) return out;
  auto selection = foreign::select_foreign(program.watch, {program.directory, root}, below_step);
  if (!selection) return propagate(selection);
  for (const foreign::Skipped& bad : selection->skipped) {
    spdlog::warn("{}: {} is passed over: {}", program.name, bad.file.path.string(), bad.reason);
  }
  if (selection->chosen) out.chosen = summary_of(*selection->chosen);
  return out;
}

Result<checkpoint::Summary> verify_checkpoint(const config::Program& program,
                                              const std::filesystem::path& root,
                                              const std::filesystem::path& path) {
  std::error_code error;
  if (program.command.empty() || std::filesystem::is_directory(path, error)) {
    return checkpoint::verify(path);
  }
  auto verified = foreign::verify_foreign(path, {program.directory, root});
  if (!verified) return propagate(verified);
  return summary_of(*verified);
}

}  // namespace trainward::daemon
