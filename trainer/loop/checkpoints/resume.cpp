#include "trainer/loop/checkpoints/resume.hpp"

#include <fmt/ranges.h>

#include "trainer/loop/setup/run_digest.hpp"
#include "trainer/model/architecture.hpp"

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;
namespace hf = checkpoint::huggingface;

Result<std::optional<fs::path>> newest_under(const fs::path& root, Reporter& reporter) {
  auto selection = checkpoint::select(root);
  if (!selection) return propagate(selection);
  for (const checkpoint::Rejected& bad : selection->rejected) {
    reporter.error(fmt::format("{}: not resumed from: {}", bad.path.string(), bad.reason));
  }
  if (!selection->chosen) return std::optional<fs::path>();
  return std::optional(selection->chosen->path);
}

Result<std::optional<fs::path>> nothing_if_unused(const fs::path& root) {
  auto present = checkpoint::list(root);
  if (!present) return propagate(present);
  if (present->empty()) return std::optional<fs::path>();
  return fail(
      ErrorKind::usage,
      fmt::format("already holds a run's checkpoints, up to step {}", present->front().step),
      root.string(), "continue with --resume auto, or name another --checkpoint-dir");
}

// Names that no architecture knows are for the model to refuse.
Status same_architecture(const checkpoint::Reader& reader, const ModelSpec& model,
                         const fs::path& folder) {
  const Architecture* held = architecture_of(shapes_of(reader.model()));
  const Architecture& asked = architecture_of(model);
  if (held == nullptr || held == &asked) return {};
  return fail(ErrorKind::usage,
              fmt::format("holds a model of {}, and the configuration trains one of {}",
                          held->title(), asked.title()),
              folder.string(),
              fmt::format("name a model of {} in training_config.model, or start a new run",
                          held->title()));
}

// The configuration's digest knows of it too, but cannot say what is wrong.
Status same_base(const checkpoint::TrainingState& state, const hf::BaseModel& base,
                 const fs::path& folder) {
  const auto record = hf::record_of(state);
  if (base.digest.empty() || !record || !record->base || record->base->digest == base.digest) {
    return {};
  }
  return fail(ErrorKind::usage,
              fmt::format("began from the weights {} ({}), and {} holds {}", record->base->digest,
                          record->base->folder.string(), base.folder.string(), base.digest),
              folder.string(),
              "name the base model as it was in training_config.base_model, or start a new run");
}

// The two ways out are the same whatever was changed.
tl::unexpected<Error> another_configuration(const checkpoint::TrainingState& state,
                                            const RunFacts& facts, const fs::path& folder) {
  const std::string before = string_or(state.extra, configuration_key, "");
  const auto changes = changed_settings(before, facts.configuration);
  std::string what = "belongs to a run with other settings";
  if (before.empty()) {
    what += fmt::format(", {}; an older version wrote it, which did not record them",
                        state.config_digest.substr(0, 12));
  } else if (!changes.empty()) {
    what += fmt::format(": {}", fmt::join(changes, "; "));
  }
  return fail(
      ErrorKind::usage, std::move(what), folder.string(),
      fmt::format("to resume, set {} back; to start over, give the program another name, or "
                  "by hand another --checkpoint-dir",
                  changes.size() == 1 ? "it" : "them"));
}

}  // namespace

Result<std::optional<fs::path>> choose_checkpoint(const ResumeRequest& request,
                                                  const fs::path& root, Reporter& reporter) {
  switch (request.how) {
    case ResumeRequest::How::fresh:
      return std::optional<fs::path>();
    case ResumeRequest::How::fresh_by_hand:
      return nothing_if_unused(root);
    case ResumeRequest::How::newest:
      return newest_under(root, reporter);
    case ResumeRequest::How::folder:
      return std::optional(request.from);
  }
  return std::optional<fs::path>();
}

Result<checkpoint::Reader> Origin::open() const {
  return slot != nullptr ? checkpoint::Reader::open(*slot) : checkpoint::Reader::open(folder);
}

std::int64_t step_in(const std::optional<fs::path>& folder) {
  if (!folder) return -1;
  const auto reader = checkpoint::Reader::open(*folder);
  return reader ? reader->state().step : -1;
}

Result<int> edition_begun_under(const Origin& origin) {
  auto reader = origin.open();
  if (!reader) return propagate(reader);
  const int edition = edition_of(reader->state());
  if (edition >= 1 && edition <= current_edition) return edition;
  return fail(ErrorKind::usage,
              fmt::format("began under edition {} of what settings mean, and this version knows {}",
                          edition, current_edition),
              origin.folder.string(), "resume with the version that wrote it, or a later one");
}

Result<ResumePoint> open_checkpoint(const Origin& origin, const ModelSpec& model,
                                    const hf::BaseModel& base, const RunFacts& facts) {
  const fs::path& folder = origin.folder;
  auto reader = origin.open();
  if (!reader) return propagate(reader);
  if (auto ok = same_architecture(*reader, model, folder); !ok) return propagate(ok);
  const checkpoint::TrainingState& state = reader->state();
  if (auto ok = same_base(state, base, folder); !ok) return propagate(ok);
  // An imported one was written under no configuration of ours; its tensors must fit all the same.
  if (!state.config_digest.empty() && state.config_digest != facts.config_digest) {
    return another_configuration(state, facts, folder);
  }
  auto progress = progress_of(state);
  if (!progress) {
    progress.error().where = folder.string();
    return propagate(progress);
  }
  const bool same_data =
      string_or(state.extra, "corpus_digest", facts.corpus_digest) == facts.corpus_digest;
  return ResumePoint{std::move(*reader), *progress, same_data};
}

}  // namespace trainward::trainer
