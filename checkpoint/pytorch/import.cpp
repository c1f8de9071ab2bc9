#include "checkpoint/pytorch/import.hpp"

#include "checkpoint/pytorch/import_collector.hpp"
#include "checkpoint/pytorch/import_plan.hpp"
#include "checkpoint/pytorch/skeleton.hpp"

namespace trainward::checkpoint::pytorch {
namespace {

json::object describe(const Archive& archive, const ImportPlan& plan, std::int64_t step,
                      json::value root) {
  json::object object;
  object["version"] = 1;
  object["layout"] = to_string(archive.layout);
  object["agillm"] = plan.agillm;
  object["step"] = step;  // from which export counts on
  object["tokens"] = plan.tokens;
  if (plan.vocabulary > 0) {
    object["vocabulary"] = plan.vocabulary;
    object["padded_vocabulary"] = plan.padded_vocabulary;
  }
  object["root"] = std::move(root);
  return object;
}

TrainingState make_state(const ImportPlan& plan, const ImportOptions& options,
                         json::object pytorch) {
  TrainingState state;
  state.step = options.step.value_or(plan.step);
  state.tokens = plan.tokens;
  state.run = options.run;
  state.config_digest = options.config_digest;
  // What the trainer resumes from; the data start over.
  state.extra["cursor"] = json::object{{"epoch", 0}, {"position", 0}};
  state.extra["optimizer_steps"] = state.step;
  state.extra["pytorch"] = std::move(pytorch);
  return state;
}

}  // namespace

Result<Inspection> inspect_pytorch(SharedSource source, const ImportOptions& options) {
  const std::string where = source->where();
  if (options.row_multiple < 1 || options.step.value_or(0) < 0) {
    return fail(ErrorKind::usage, "a row multiple below 1 or a step below 0", where);
  }
  auto opened = open_archive(std::move(source));
  if (!opened) return propagate(opened);
  auto archive = std::make_shared<const Archive>(std::move(*opened));
  ImportPlan plan = plan_import(archive->tree, options.row_multiple);
  ImportCollector collector(archive, plan);
  auto root = to_skeleton(archive->tree, [&](const Occurrence& at) { return collector.take(at); });
  if (!root) {
    root.error().where = where;
    return propagate(root);
  }
  Inspection result;
  Imported& summary = result.summary;
  summary.layout = archive->layout;
  summary.agillm = plan.agillm;
  summary.vocabulary = plan.vocabulary;
  summary.padded_vocabulary = plan.padded_vocabulary;
  summary.notes = plan.notes;
  summary.bytes = collector.bytes();
  result.contents.model = collector.take_model();
  result.contents.optimizer = collector.take_optimizer();
  if (result.contents.model.empty() && result.contents.optimizer.empty()) {
    return fail(ErrorKind::usage, "holds no tensors", where, "name a checkpoint or a state dict");
  }
  result.contents.state = make_state(
      plan, options, describe(*archive, plan, options.step.value_or(plan.step), std::move(*root)));
  summary.step = result.contents.state.step;
  summary.tokens = result.contents.state.tokens;
  summary.model_tensors = result.contents.model.size();
  summary.optimizer_tensors = result.contents.optimizer.size();
  return result;
}

Result<Imported> import_pytorch(const std::filesystem::path& file,
                                const std::filesystem::path& root, const ImportOptions& options) {
  auto source = open_source(file);
  if (!source) return propagate(source);
  auto inspected = inspect_pytorch(std::move(*source), options);
  if (!inspected) return propagate(inspected);
  auto folder = save(root, inspected->contents, options.save);
  if (!folder) return propagate(folder);
  Imported imported = std::move(inspected->summary);
  imported.folder = std::move(*folder);
  return imported;
}

}  // namespace trainward::checkpoint::pytorch
