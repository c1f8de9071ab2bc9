#include "supervisor/ctl/model_check.hpp"

#include <algorithm>

#include "checkpoint/huggingface/model/model_folder.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;

bool has_ending_of_rows(fs::path path) {
  if (path.extension() == ".gz" || path.extension() == ".zst") path.replace_extension();
  const std::string ending = path.extension().string();
  return ending == ".jsonl" || ending == ".ndjson" || ending == ".json";
}

// As the worker decides it, where the names alone tell.
bool learns_examples(const json::object& training) {
  const std::string form = string_or(training, "data_form", "auto");
  const auto data = get_array(training, "data");
  if (form != "auto" || !data) return form == "examples";
  return !string_or(training, "base_model", "").empty() && !(*data)->empty() &&
         std::ranges::all_of(**data, [](const json::value& path) {
           return path.is_string() && has_ending_of_rows(fs::path(view(path.get_string())));
         });
}

class ModelCheck {
 public:
  ModelCheck(const config::Config& config, const config::Program& program,
             config::Problems& problems)
      : config_(config), program_(program), problems_(problems) {}

  void look(const json::object& training) {
    const bool validates =
        number_or(training, "validation_share", 0) > 0 || training.contains("validation_data");
    if (int_or(training, "evaluate_every", 0) > 0 && !validates && learns_examples(training)) {
      tell("evaluate_every",
           "there is nothing to evaluate on; name validation_data, or say which "
           "validation_share of the data is held back");
    }
    const std::string folder = string_or(training, "base_model", "");
    if (folder.empty()) return;
    auto model = checkpoint::huggingface::ModelFolder::open(folder);
    if (!model) return tell("base_model", model.error().message());
    const std::int64_t block = int_or(training, "block_size", 0);
    const std::int64_t most = int_or(model->config(), "max_position_embeddings", 0);
    if (most > 0 && block > most) {
      tell("block_size", fmt::format("is {}, and the model knows {} positions", block, most));
    }
  }

 private:
  // Its place in the file is no longer known.
  void tell(std::string_view key, std::string_view what) {
    problems_.push_back(
        {config_.file.string(), 0, 0,
         fmt::format("programs.{}.training_config.{}: {}", program_.name, key, what)});
  }

  const config::Config& config_;
  const config::Program& program_;
  config::Problems& problems_;
};

}  // namespace

config::Problems check_models(const config::Config& config) {
  config::Problems problems;
  for (const config::Program& program : config.programs) {
    const auto training = get_object(program.worker, "training_config");
    if (training) ModelCheck(config, program, problems).look(**training);
  }
  return problems;
}

}  // namespace trainward::ctl
