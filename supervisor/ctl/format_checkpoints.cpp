#include <algorithm>

#include "common/text.hpp"
#include "supervisor/ctl/format.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {
namespace {

std::uint64_t size_or(const json::object& object, std::string_view key) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(int_or(object, key, 0), 0));
}

// "latest, pinned"; empty for most.
std::string marks_of(const json::object& row) {
  std::string marks = bool_or(row, "latest", false) ? "latest" : "";
  if (bool_or(row, "pinned", false)) marks += marks.empty() ? "pinned" : ", pinned";
  return marks;
}

// A value as people write it: text without quotes, everything else as JSON, cut when it is long.
std::string plain(const json::object& object, std::string_view key) {
  constexpr std::size_t longest = 60;
  const json::value* value = object.if_contains(json::string_view(key.data(), key.size()));
  if (value == nullptr || value->is_null()) return "-";
  const std::string text = value->is_string()   ? std::string(value->get_string())
                           : value->is_double() ? fmt::format("{:g}", value->get_double())
                                                : json::serialize(*value);
  return text.empty() ? "-" : shortened(text, longest);
}

// Visits the objects in an array, when there is one.
template <typename Visit>
void for_each_row(const json::object& object, std::string_view key, Visit visit) {
  const json::value* rows = object.if_contains(json::string_view(key.data(), key.size()));
  if (rows == nullptr || !rows->is_array()) return;
  for (const json::value& row : rows->get_array()) {
    if (row.is_object()) visit(row.get_object());
  }
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

std::string words_of_action(const std::string& action, bool dry_run) {
  const std::string would = dry_run ? "would be " : "";
  if (action == "set_aside") return would + "set aside";
  if (action == "brought_back") return would + "brought back";
  if (action == "removed") return would + "removed";
  return dry_run ? "would be changed" : "changed";
}

}  // namespace

std::string format_checkpoints(const json::array& rows, std::int64_t now_ms, const Style& style) {
  const bool any_mark = std::any_of(rows.begin(), rows.end(), [](const json::value& row) {
    return row.is_object() && !marks_of(row.get_object()).empty();
  });
  std::vector<Table::Column> columns{
      {"STEP", Align::right}, {"STATE"}, {"SIZE", Align::right}, {"SAVED"}, {"PATH"}};
  if (any_mark) columns.insert(columns.end() - 1, {"MARK"});
  Table table(std::move(columns));
  for (const json::value& value : rows) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    const std::string state = string_or(row, "state", "-");
    const std::int64_t at = int_or(row, "at_ms", 0);
    const std::string reason = string_or(row, "reason", "");
    std::vector<Cell> cells{
        fmt::format("{}", int_or(row, "step", 0)),
        Cell(state, state == "-" ? Colour::plain : colour_of(state)),
        human_bytes(size_or(row, "bytes")), at > 0 ? age(now_ms - at) : "-",
        string_or(row, "path", "-") + (reason.empty() ? "" : " (" + reason + ")")};
    if (any_mark) cells.insert(cells.end() - 1, Cell(marks_of(row)));
    table.add(std::move(cells));
  }
  return table.text(style);
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

std::string format_repair(const json::object& repair, const Style& style) {
  const bool dry_run = bool_or(repair, "dry_run", false);
  std::string text;
  std::int64_t good = 0;
  std::string newest;
  for_each_row(repair, "steps", [&](const json::object& step) {
    const std::string problem = string_or(step, "problem", "");
    const std::string to = string_or(step, "to", "");
    text += clean(string_or(step, "path", "-")) + ": " +
            (problem.empty() ? words_of_action(string_or(step, "action", ""), dry_run)
                             : coloured("FAILED: " + clean(problem), Colour::red, style)) +
            (to.empty() ? "" : ", now " + clean(to)) + " (" + clean(string_or(step, "reason", "")) +
            ")\n";
  });
  for_each_row(repair, "left_alone", [&](const json::object& row) {
    text += clean(string_or(row, "path", "-")) + ": left alone (" +
            clean(string_or(row, "reason", "")) + ")\n";
  });
  for_each_row(repair, "spare", [&](const json::object& row) {
    text += clean(string_or(row, "path", "-")) +
            ": is whole, but there is a good one of its step; remove it when you do not need it\n";
  });
  for_each_row(repair, "good", [&](const json::object& row) {
    if (good++ == 0) newest = clean(string_or(row, "path", "-"));
  });
  if (good == 0) return text + "No good checkpoint\n";
  return text + fmt::format("{} good, the newest is {}\n", count(good, "checkpoint"), newest);
}

}  // namespace trainward::ctl
