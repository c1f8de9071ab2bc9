#include "supervisor/daemon/hands/foreign_checkpoints.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "checkpoint/format/names.hpp"
#include "supervisor/config/program_policy.hpp"
#include "supervisor/evidence/foreign/checkpoints/checkpoint_step.hpp"

namespace trainward::daemon {
namespace {

checkpoint::Summary summary_of(const foreign::Candidate& candidate) {
  checkpoint::Summary summary;
  summary.path = candidate.path;
  summary.step = candidate.step.value_or(0);
  summary.bytes = candidate.bytes;
  summary.created_wall_ms = candidate.modified_ns / 1'000'000;
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
  const ForeignWatch::Known known{
      !state.current.first_step ? 0 : state.current.last_step.number,
      state.history.kept_step.number, state.current.resume_step.number,
      [&store = services.store, name = program.name](std::int64_t wall_ms) {
        return store.step_at(name, wall_ms).value_or(std::nullopt);
      }};
  return std::make_unique<ForeignWatch>(services.loop, services.watcher, std::move(in_background),
                                        watch, folders, attempt_folder, known, std::move(sink));
}

bool has_foreign_checkpoints(const config::Program& program) {
  return !program.watch.checkpoints.empty();
}

std::vector<foreign::Candidate> foreign_candidates(const config::Program& program,
                                                   const std::filesystem::path& root,
                                                   WallTime since) {
  if (!config::is_told_to_resume(program)) return {};
  auto candidates =
      foreign::find_checkpoints(program.watch, {program.directory, root}, since.ms * 1'000'000)
          .candidates;
  constexpr int most_read = 64;
  int read = 0;
  for (foreign::Candidate& candidate : candidates) {
    if (candidate.step || ++read > most_read) continue;
    candidate.step = foreign::step_inside(candidate.path);
  }
  return candidates;
}

Result<checkpoint::Selection> select_foreign_checkpoint(const config::Program& program,
                                                        const std::filesystem::path& root,
                                                        std::vector<foreign::Candidate> candidates,
                                                        std::int64_t below_step) {
  checkpoint::Selection out;
  auto selection =
      foreign::select_foreign(std::move(candidates), {program.directory, root}, below_step);
  if (!selection) return propagate(selection);
  for (const foreign::Skipped& bad : selection->skipped) {
    spdlog::warn("{}: {} is passed over: {}", program.name, bad.candidate.path.string(),
                 bad.reason);
  }
  if (selection->chosen) out.chosen = summary_of(*selection->chosen);
  return out;
}

Result<checkpoint::Summary> verify_checkpoint(const config::Program& program,
                                              const std::filesystem::path& root,
                                              const core::VerifyCheckpoint& order,
                                              foreign::Writer writer) {
  const std::filesystem::path path = order.path;
  std::error_code error;
  const bool ours =
      program.command.empty() || std::filesystem::exists(path / checkpoint::name::manifest, error);
  if (ours) return checkpoint::verify(path);
  auto verified = foreign::verify_foreign(path, {program.directory, root}, writer);
  if (!verified) return propagate(verified);
  verified->step = order.step.number;
  return summary_of(*verified);
}

}  // namespace trainward::daemon
