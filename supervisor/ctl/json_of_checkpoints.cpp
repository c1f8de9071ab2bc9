#include "supervisor/ctl/json_of_checkpoints.hpp"

#include "checkpoint/format/strict_json.hpp"

namespace trainward::ctl {
namespace {

using checkpoint::json_number;

json::string text(std::string_view view) { return json::string(view.data(), view.size()); }

json::array texts(const std::vector<std::string>& from) {
  json::array array;
  for (const std::string& one : from) array.emplace_back(one);
  return array;
}

json::value json_of_info(const std::optional<checkpoint::TensorInfo>& info) {
  if (!info) return nullptr;
  return {{"dtype", text(to_string(info->dtype))},
          {"shape", json::array(info->shape.begin(), info->shape.end())}};
}

json::value number_or_null(const std::optional<double>& number) {
  return number ? json_number(*number) : json::value();
}

json::object json_of_tensor(const checkpoint::Inspection::Tensor& tensor) {
  return {{"name", tensor.info.name},
          {"dtype", text(to_string(tensor.info.dtype))},
          {"shape", json::array(tensor.info.shape.begin(), tensor.info.shape.end())},
          {"bytes", byte_count(tensor.info).value_or(0)},
          {"file", tensor.file}};
}

json::object json_of_section(const checkpoint::Inspection::Section& section, bool with_tensors) {
  json::object object{{"name", section.name},
                      {"tensors", section.tensors.size()},
                      {"parameters", section.elements()},
                      {"bytes", section.bytes()},
                      {"files", texts(section.files)}};
  if (!with_tensors) return object;
  json::array& list = object["list"].emplace_array();
  for (const auto& tensor : section.tensors) list.push_back(json_of_tensor(tensor));
  return object;
}

}  // namespace

json::object json_of(const checkpoint::Summary& summary) {
  return {
      {"path", summary.path.string()},   {"step", summary.step},
      {"bytes", summary.bytes},          {"state", "-"},  // listing reads no tensor: verify does
      {"tokens", summary.tokens},        {"loss", json_number(summary.loss)},
      {"at_ms", summary.created_wall_ms}};
}

json::object json_of(const checkpoint::Inspection& found, bool with_tensors) {
  json::array files;
  for (const auto& file : found.files) files.push_back({{"name", file.name}, {"size", file.size}});
  json::array sections;
  for (const auto& section : found.sections) {
    sections.push_back(json_of_section(section, with_tensors));
  }
  return {{"path", found.summary.path.string()},
          {"step", found.summary.step},
          {"tokens", found.summary.tokens},
          {"loss", json_number(found.summary.loss)},
          {"run", found.state.run},
          {"config_digest", found.state.config_digest},
          {"parent", found.state.parent},
          {"extra", found.state.extra},
          {"at_ms", found.summary.created_wall_ms},
          {"bytes", found.summary.bytes},
          {"pinned", found.pin.has_value()},
          {"pin_reason", found.pin.value_or("")},
          {"latest", found.latest},
          {"files", std::move(files)},
          {"sections", std::move(sections)}};
}

json::object json_of(const checkpoint::Diff& diff, const std::filesystem::path& first,
                     const std::filesystem::path& second) {
  json::array tensors;
  for (const checkpoint::TensorDifference& one : diff.tensors) {
    tensors.push_back({{"kind", text(to_string(one.kind))},
                       {"section", one.section},
                       {"name", one.name},
                       {"first", json_of_info(one.first)},
                       {"second", json_of_info(one.second)},
                       {"elements", one.elements},
                       {"differing", one.differing},
                       {"largest_absolute", number_or_null(one.largest_absolute)},
                       {"largest_relative", number_or_null(one.largest_relative)}});
  }
  json::array state;
  for (const checkpoint::StateDifference& one : diff.state) {
    state.push_back({{"key", one.key}, {"first", one.first}, {"second", one.second}});
  }
  return {{"first", first.string()},       {"second", second.string()},
          {"equal", diff.empty()},         {"equal_tensors", diff.equal_tensors},
          {"tensors", std::move(tensors)}, {"state", std::move(state)}};
}

json::object json_of(const checkpoint::Repair& repair, const std::filesystem::path& root,
                     bool dry_run) {
  json::array steps;
  for (const checkpoint::Repair::Step& step : repair.steps) {
    steps.push_back({{"action", text(to_string(step.action))},
                     {"path", step.path.string()},
                     {"to", step.to.string()},
                     {"reason", step.reason},
                     {"problem", step.problem}});
  }
  const auto rows_of = [](const std::vector<checkpoint::Summary>& summaries) {
    json::array rows;
    for (const auto& one : summaries) {
      rows.push_back({{"path", one.path.string()}, {"step", one.step}});
    }
    return rows;
  };
  json::array left_alone;
  for (const checkpoint::Rejected& one : repair.left_alone) {
    left_alone.push_back({{"path", one.path.string()}, {"step", one.step}, {"reason", one.reason}});
  }
  return {{"path", root.string()},          {"dry_run", dry_run},
          {"steps", std::move(steps)},      {"good", rows_of(repair.good)},
          {"spare", rows_of(repair.spare)}, {"left_alone", std::move(left_alone)}};
}

}  // namespace trainward::ctl
