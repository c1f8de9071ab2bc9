#include "common/settings/settle.hpp"

#include <algorithm>
#include <array>

namespace trainward::settings {

std::vector<Problem> settle_training(WorkerSettings& values, const Given& given) {
  std::vector<Problem> problems;
  // A run is as long as its steps, its epochs, or what of the two is over first.
  if (values.num_epochs > 0 && !given("steps")) values.steps = 0;
  if (values.steps == 0 && values.num_epochs == 0) {
    problems.push_back({"steps", "is 0, and no num_epochs says how long the run is", ""});
  }
  std::vector<std::string_view> models;
  for (const std::string_view key : {"base_model", "model_config", "llama"}) {
    if (given(key)) models.push_back(key);
  }
  if (models.size() > 1) {
    problems.push_back({std::string(models[1]),
                        fmt::format("says what is trained, and so does '{}'", models[0]),
                        "keep one of them"});
  }
  // Somebody who tunes a model names one rate, and means all of it.
  if (!models.empty() && !given("head_learning_rate")) {
    values.head_learning_rate = values.learning_rate;
  }
  if (values.lora_rank > 0 && !given("base_model")) {
    problems.push_back(
        {"lora", "adapts a model that is there already", "name its folder: base_model"});
  }
  if (values.own_llama) {
    if (const auto problem = llama_problem(values.llama)) {
      problems.push_back({fmt::format("llama.{}", problem->key), problem->what, ""});
    }
  }
  const bool own =
      std::ranges::find(words::own_formats, values.prompt_format) != words::own_formats.end();
  if (!values.template_variables.empty() && !own) {
    problems.push_back({"template_variables",
                        fmt::format("are for the model's own template, and prompt_format is {}",
                                    values.prompt_format),
                        "leave one of them out"});
  }
  if (!values.validation_data.empty() && values.validation_share > 0) {
    problems.push_back({"validation_share",
                        "is of data that is trained on, and validation_data names other",
                        "keep one"});
  }
  return problems;
}

namespace {

// Why the devices of a row cannot share the weights; empty: they can.
std::string tensor_parallel_problem(const WorkerSettings& values) {
  if (values.device != "pjrt") return "is for the devices of a plugin; processes have all weights";
  if (values.mesh_columns > 1) return {};
  if (values.ranks() == 1) return "divides the weights over several columns of mesh_shape";
  return fmt::format(
      "divides the weights over the columns of mesh_shape, and [{}, {}] has one; write [{}, {}]",
      values.mesh_rows, values.mesh_columns, values.mesh_columns, values.mesh_rows);
}

}  // namespace

std::vector<Problem> settle_device(WorkerSettings& values, const Given& given) {
  std::vector<Problem> problems;
  if (given("plugin") && !given("device")) values.device = "pjrt";
  const bool of_plugin = values.device == "pjrt";
  if (of_plugin && !given("plugin")) {
    problems.push_back({"plugin", "is missing", "name 'sim_n300' or the file of a plugin"});
  }
  if (values.enable_tp) {
    if (const std::string problem = tensor_parallel_problem(values); !problem.empty()) {
      problems.push_back({"enable_tp", problem, ""});
    }
  }
  if (values.ranks() > values.columns_of_weights() && !values.enable_ddp) {
    problems.push_back(
        {"enable_ddp",
         fmt::format("needed by a mesh_shape of more than one {}: true", values.enable_tp ? "row"
                                                                         : of_plugin      ? "device"
                                                                                     : "process"),
         ""});
  }
  return problems;
}

}  // namespace trainward::settings
