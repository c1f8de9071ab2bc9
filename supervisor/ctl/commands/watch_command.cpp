// watch: a log in; what the daemon would see in it, and the configuration that says the same, out.
// No daemon is needed.
#include "common/base/text.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/logs/log_input.hpp"
#include "supervisor/ctl/logs/log_look.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/ctl/output/table.hpp"

namespace trainward::ctl {
namespace {

struct WatchRequest {
  std::string file;    // "-": standard input
  std::string preset;  // empty: whatever is recognised
};

std::string number_of(const json::object& row, std::string_view key) {
  const json::value& value = row.at(key);
  if (const auto* whole = value.if_int64()) return grouped(*whole);
  if (const auto* real = value.if_double()) return number_text(*real);
  return "-";
}

std::string table_of(const json::array& rows, const Style& style) {
  Table table({{"line", Align::right},
               {"step", Align::right},
               {"loss", Align::right},
               {"held out", Align::right},
               {"rate", Align::right},
               {"text"}});
  for (const json::value& value : rows) {
    const json::object& row = value.get_object();
    const json::value& rate = row.at("learning_rate");
    table.add({Cell(number_of(row, "line_number")), Cell(number_of(row, "step")),
               Cell(number_of(row, "loss")), Cell(number_of(row, "held_out_loss")),
               Cell(rate.is_double() ? fmt::format("{:.3g}", rate.get_double()) : "-"),
               Cell(string_or(row, "line", ""))});
  }
  return table.text(style, "  ");
}

// In single quotes a quote is two.
std::string yaml_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

std::string format_look(const json::object& document, const Style& style) {
  std::string text;
  const auto notices = get_array(document, "notices");
  if (notices) {
    for (const json::value& notice : **notices) {
      const std::string words = clean(std::string(notice.get_string()));
      text += coloured(words, Colour::bold, style) + "\n";
    }
  }
  const auto rows = get_array(document, "rows");
  const std::string lines = grouped(int_or(document, "lines", 0));
  if (document.at("format").is_null()) {
    text += fmt::format(
        "no steps are recognised in {} lines; the program would be started, logged and started "
        "again; a hang shows only when it neither computes nor writes (deadlines.silence)\n",
        lines);
    if (rows && !(*rows)->empty()) {
      text += "lines that say something, but not enough, or not in order:\n";
      text += table_of(**rows, style);
    }
    return text +
           "a rule of watch.log in the configuration says what to look for: docs/config.md\n";
  }
  text += fmt::format(
      "  {} of {} lines read: steps {} to {}, {}; {}\n\n",
      grouped(int_or(document, "lines_read", 0)), lines, grouped(int_or(document, "first_step", 0)),
      grouped(int_or(document, "last_step", 0)), count(int_or(document, "steps", 0), "step"),
      count(int_or(document, "evaluations", 0), "evaluation"));
  if (rows) text += table_of(**rows, style);
  text += "\nThis is watched without a word in the configuration. What says the same:\n\n";
  text += fmt::format("    watch: {{preset: {}}}\n", string_or(document, "format", ""));
  if (const std::string rule = string_or(document, "rule", ""); !rule.empty()) {
    text += "\nor steps and losses alone, as a rule that can be changed:\n\n";
    text += fmt::format("    watch:\n      log:\n        - {{match: {}, phase: train}}\n",
                        yaml_text(rule));
  }
  return text;
}

int watch(const Context& context, const WatchRequest& request) {
  LogLook look(foreign::find_format(request.preset));
  const Status read =
      read_input(request.file, [&look](std::string_view bytes) { look.feed(bytes); });
  if (!read) {
    context.terminal.err << "trainwardctl: " << clean(read.error().message()) << '\n';
    return exit_status::failed;
  }
  look.end();
  const json::object document = look.document(request.file);
  if (context.settings.json) {
    context.print_json(document);
  } else {
    context.terminal.out << format_look(document, context.style());
  }
  return exit_status::ok;
}

}  // namespace

void add_watch(Cli& cli) {
  auto& request = cli.keep<WatchRequest>();
  const Verb verb = cli.verb("watch", "what would be seen in a program's output");
  verb.option("FILE", request.file, "a log, or - for standard input").required();
  std::vector<std::string> names;
  for (const std::string_view name : foreign::preset_names()) names.emplace_back(name);
  verb.option("--preset", request.preset, "read it as this format").one_of(names);
  cli.on(verb, request, watch);
}

}  // namespace trainward::ctl
