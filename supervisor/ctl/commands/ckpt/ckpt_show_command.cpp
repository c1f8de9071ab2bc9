// ckpt show: state, files and tensors of one checkpoint, without reading tensor data.
#include "checkpoint/format/strict_json.hpp"
#include "checkpoint/tools/inspect.hpp"
#include "common/base/text.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/checkpoint_place.hpp"
#include "supervisor/ctl/output/output_rows.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/ctl/output/table.hpp"

namespace trainward::ctl {
namespace {

struct ShowRequest {
  std::string place;
  bool tensors = false;  // each of them too
};

json::array names_of(const std::vector<std::string>& from) {
  json::array array;
  for (const std::string& one : from) array.emplace_back(one);
  return array;
}

json::object json_of_tensor(const checkpoint::Inspection::Tensor& tensor) {
  return {{"name", tensor.info.name},
          {"dtype", std::string(to_string(tensor.info.dtype))},
          {"shape", json::array(tensor.info.shape.begin(), tensor.info.shape.end())},
          {"bytes", byte_count(tensor.info).value_or(0)},
          {"file", tensor.file}};
}

json::object json_of_section(const checkpoint::Inspection::Section& section, bool with_tensors) {
  json::object object{{"name", section.name},
                      {"tensors", section.tensors.size()},
                      {"parameters", section.elements()},
                      {"bytes", section.bytes()},
                      {"files", names_of(section.files)}};
  if (!with_tensors) return object;
  json::array& list = object["list"].emplace_array();
  for (const auto& tensor : section.tensors) list.push_back(json_of_tensor(tensor));
  return object;
}

json::object json_of_inspection(const checkpoint::Inspection& found, bool with_tensors) {
  json::array files;
  for (const auto& file : found.files) files.push_back({{"name", file.name}, {"size", file.size}});
  json::array sections;
  for (const auto& section : found.sections) {
    sections.push_back(json_of_section(section, with_tensors));
  }
  return {{"path", found.summary.path.string()},
          {"step", found.summary.step},
          {"tokens", found.summary.tokens},
          {"loss", checkpoint::json_number(found.summary.loss)},
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

// The one file's name, or how many there are.
std::string files_of(const json::object& section) {
  const json::value* files = section.if_contains("files");
  if (files == nullptr || !files->is_array()) return "-";
  const json::array& names = files->get_array();
  if (names.size() != 1 || !names[0].is_string()) {
    return count(static_cast<std::int64_t>(names.size()), "file");
  }
  return std::string(names[0].get_string());
}

std::string format_checkpoint(const json::object& found, std::int64_t now_ms, const Style& style) {
  const std::int64_t at = int_or(found, "at_ms", 0);
  const std::string reason = string_or(found, "pin_reason", "");
  const bool pinned = bool_or(found, "pinned", false);
  Table facts({{""}, {""}});
  const auto fact = [&](std::string name, std::string value) {
    facts.add({Cell(std::move(name)), Cell(std::move(value))});
  };
  fact("step", grouped(int_or(found, "step", 0)));
  fact("tokens", grouped(int_or(found, "tokens", 0)));
  fact("loss", plain(found, "loss"));
  fact("run", plain(found, "run"));
  fact("config", plain(found, "config_digest"));
  fact("parent", plain(found, "parent"));
  fact("extra", plain(found, "extra"));
  fact("saved", at > 0 ? age(now_ms - at) : "-");
  fact("size", human_bytes(size_or(found, "bytes")));
  fact("pinned", !pinned ? "no" : reason.empty() ? "yes" : "yes: " + reason);
  fact("latest", bool_or(found, "latest", false) ? "yes, the newest that was verified" : "no");
  Table sections({{"SECTION"},
                  {"TENSORS", Align::right},
                  {"PARAMETERS", Align::right},
                  {"SIZE", Align::right},
                  {"FILES"}});
  Table tensors({{"SECTION"}, {"TENSOR"}, {"TYPE"}, {"SHAPE"}, {"SIZE", Align::right}, {"FILE"}});
  bool any_tensor = false;
  for_each_row(found, "sections", [&](const json::object& section) {
    sections.add({plain(section, "name"), grouped(int_or(section, "tensors", 0)),
                  grouped(int_or(section, "parameters", 0)), human_bytes(size_or(section, "bytes")),
                  files_of(section)});
    for_each_row(section, "list", [&](const json::object& tensor) {
      any_tensor = true;
      tensors.add({plain(section, "name"), plain(tensor, "name"), plain(tensor, "dtype"),
                   plain(tensor, "shape"), human_bytes(size_or(tensor, "bytes")),
                   plain(tensor, "file")});
    });
  });
  Table files({{"FILE"}, {"SIZE", Align::right}});
  for_each_row(found, "files", [&](const json::object& file) {
    files.add({plain(file, "name"), human_bytes(size_or(file, "size"))});
  });
  std::string text = clean(string_or(found, "path", "-")) + "\n" + facts.text(style, "  ") + "\n" +
                     sections.text(style) + "\n" + files.text(style);
  if (any_tensor) text += "\n" + tensors.text(style);
  return text;
}

int show_checkpoint(const Context& context, const ShowRequest& request) {
  const auto folder = one_checkpoint_of(context, request.place);
  if (!folder) return finish(context, folder.error());
  auto found = checkpoint::inspect(*folder);
  if (!found) return finish(context, {exit_status::failed, std::move(found).error()});
  const json::object document = json_of_inspection(*found, request.tensors);
  return print_document(context, document, [&](const json::object& shown) {
    return format_checkpoint(shown, context.terminal.now.wall.ms, context.style());
  });
}

}  // namespace

void add_ckpt_show(Cli& cli) {
  auto& request = cli.keep<ShowRequest>();
  const Verb verb =
      cli.verb("ckpt show", "state, files and tensors of a checkpoint, or of the newest");
  verb.option("DIR", request.place, place_help).required();
  verb.flag("--tensors", request.tensors, "each tensor too");
  cli.on(verb, request, show_checkpoint);
}

}  // namespace trainward::ctl
