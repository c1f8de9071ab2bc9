// ckpt diff: what two checkpoints differ in, once both are verified; nothing is changed.
#include "checkpoint/format/strict_json.hpp"
#include "checkpoint/tools/diff.hpp"
#include "common/base/text.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/checkpoint_place.hpp"
#include "supervisor/ctl/ckpt_operation.hpp"
#include "supervisor/ctl/output/output_rows.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/ctl/output/table.hpp"

namespace trainward::ctl {
namespace {

struct DiffRequest {
  std::string first;
  std::string second;
};

json::value json_of_info(const std::optional<checkpoint::TensorInfo>& info) {
  if (!info) return nullptr;
  return {{"dtype", std::string(to_string(info->dtype))},
          {"shape", json::array(info->shape.begin(), info->shape.end())}};
}

json::value number_or_null(const std::optional<double>& number) {
  return number ? checkpoint::json_number(*number) : json::value();
}

json::object json_of_diff(const checkpoint::Diff& diff, const std::filesystem::path& first,
                          const std::filesystem::path& second) {
  json::array tensors;
  for (const checkpoint::TensorDifference& one : diff.tensors) {
    tensors.push_back({{"kind", std::string(to_string(one.kind))},
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

std::string type_and_shape(const json::object& tensor, std::string_view key) {
  const json::value* info = tensor.if_contains(json::string_view(key.data(), key.size()));
  if (info == nullptr || !info->is_object()) return "-";
  return plain(info->get_object(), "dtype") + " " + plain(info->get_object(), "shape");
}

std::string difference_of(const json::object& row, const std::string& kind) {
  if (kind == "only_in_first") return type_and_shape(row, "first");
  if (kind == "only_in_second") return type_and_shape(row, "second");
  if (kind == "type_or_shape") {
    return type_and_shape(row, "first") + " became " + type_and_shape(row, "second");
  }
  std::string text = fmt::format("{} of {}", grouped(int_or(row, "differing", 0)),
                                 count(int_or(row, "elements", 0), "element"));
  if (plain(row, "largest_absolute") != "-") {
    text += fmt::format(", at most {} apart ({} relative)", plain(row, "largest_absolute"),
                        plain(row, "largest_relative"));
  }
  return text;
}

std::string words_of_kind(const std::string& kind) {
  if (kind == "only_in_first") return "only in the first";
  if (kind == "only_in_second") return "only in the second";
  if (kind == "type_or_shape") return "other type or shape";
  return "other values";
}

std::string format_diff(const json::object& diff, const Style& style) {
  Table table({{"WHAT"}, {"SECTION"}, {"NAME"}, {"HOW"}});
  std::int64_t tensors = 0;
  std::int64_t keys = 0;
  for_each_row(diff, "tensors", [&](const json::object& row) {
    ++tensors;
    const std::string kind = string_or(row, "kind", "values");
    table.add({words_of_kind(kind), plain(row, "section"), string_or(row, "name", "-"),
               difference_of(row, kind)});
  });
  for_each_row(diff, "state", [&](const json::object& row) {
    ++keys;
    table.add({Cell("other state"), Cell("state"), plain(row, "key"),
               plain(row, "first") + " became " + plain(row, "second")});
  });
  const std::string equal = count(int_or(diff, "equal_tensors", 0), "tensor");
  if (tensors == 0 && keys == 0) return "The same: " + equal + " and the state\n";
  return table.text(style) +
         fmt::format("{} {}, {} of the state; {} the same\n", count(tensors, "tensor"),
                     tensors == 1 ? "differs" : "differ", count(keys, "key"), equal);
}

int diff_checkpoints(const Context& context, const DiffRequest& request) {
  const auto a = one_checkpoint_of(context, request.first);
  if (!a) return finish(context, a.error());
  const auto b = one_checkpoint_of(context, request.second);
  if (!b) return finish(context, b.error());
  Operation operation(context, "comparing");
  const auto found = checkpoint::diff(*a, *b, operation.io());
  if (!found) return operation.fail(found.error(), "nothing was changed");
  operation.clear();
  const json::object document = json_of_diff(*found, *a, *b);
  if (context.settings.json) {
    context.print_json(document);
  } else {
    context.terminal.out << format_diff(document, context.style());
  }
  return found->empty() ? exit_status::ok : exit_status::failed;
}

}  // namespace

void add_ckpt_diff(Cli& cli) {
  auto& request = cli.keep<DiffRequest>();
  const Verb verb = cli.verb("ckpt diff", "what two checkpoints differ in");
  verb.option("A", request.first, place_help).required();
  verb.option("B", request.second, place_help).required();
  cli.on(verb, request, diff_checkpoints);
}

}  // namespace trainward::ctl
