// report: what a run came to, and where its time went.
#include <algorithm>
#include <cmath>

#include "common/base/text.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/program_names.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/ctl/output/table.hpp"
#include "supervisor/ctl/report_learning.hpp"
#include "supervisor/ctl/report_page.hpp"
#include "supervisor/decide/core/phase.hpp"
#include "supervisor/decide/view/device_view.hpp"
#include "supervisor/decide/view/view_rows.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::ctl {
namespace {

constexpr std::size_t bar_columns = 30;

std::string report_line(std::string_view title, const std::string& text) {
  return fmt::format("  {:<20}{}\n", title, text);
}

std::string attempts_text(const json::object& report) {
  std::string text = grouped(int_or(report, "attempts", 0));
  std::string causes;
  if (const auto rows = get_array(report, "causes")) {
    for (const json::value& value : **rows) {
      if (!value.is_object()) continue;
      causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ",
                            clean(string_or(value.get_object(), "cause", "-")),
                            int_or(value.get_object(), "attempts", 0));
    }
  }
  return causes.empty() ? text : text + ": " + causes;
}

std::string grouped_or_dash(const json::object& report, std::string_view key) {
  const auto number = get_int(report, key);
  return number ? grouped(*number) : "-";
}

std::string steps_sum(const json::object& report) {
  std::string text = fmt::format("{} kept, {} lost", grouped_or_dash(report, "steps_kept"),
                                 grouped_or_dash(report, "steps_lost"));
  if (const auto unknown = int_or(report, "attempts_with_unknown_loss", 0); unknown > 0) {
    text += fmt::format("; of {} it is not known", count(unknown, "attempt"));
  }
  return text;
}

std::string loss_text(const json::object& report) {
  const auto first = get_number(report, "first_loss");
  const auto last = get_number(report, "last_loss");
  if (!first || !last) return "-";
  std::string text =
      fmt::format("{} at first, {} at last", number_text(*first), number_text(*last));
  if (const auto best = get_number(report, "best_loss"))
    text += fmt::format(", {} best", number_text(*best));
  return text;
}

// Of a run that evaluates; nothing otherwise.
std::string held_out_line(const json::object& report) {
  const auto step = get_int(report, "evaluated_step");
  if (!step) return {};
  const auto last = get_number(report, "evaluation_loss");
  std::string text = fmt::format("{} at step {}{}", last ? number_text(*last) : "-", grouped(*step),
                                 perplexity_text(report, "evaluation_perplexity"));
  if (const auto best = get_number(report, "best_evaluation_loss"))
    text += fmt::format(", {} best", number_text(*best));
  return report_line("held-out loss", text);
}

// Of a run that its worker has ended before its last step; nothing otherwise.
std::string early_end_line(const json::object& report) {
  const std::string why = clean(string_or(report, "early_end", ""));
  return why.empty() ? "" : report_line("ended early", why);
}

// Of a run that does not see all of its data; nothing otherwise.
std::string data_line(const json::object& report) {
  const std::string what = clean(string_or(report, "data_left_out", ""));
  return what.empty() ? "" : report_line("data", what);
}

// Of a run whose worker tells of compiled programs; nothing otherwise.
std::string programs_line(const json::object& report) {
  const std::string text = programs_text(report);
  return text.empty() ? "" : report_line("programs", text);
}

std::string tokens_text(const json::object& report) {
  std::string text = grouped_or_dash(report, "tokens");
  if (const auto rate = get_number(report, "tokens_per_second")) {
    text += fmt::format(", {:.0f} tokens/s while training", *rate);
  }
  return text;
}

std::string effective_text(const json::object& report) {
  std::string text = fmt::format("{} ({} of {})", percent(number_or(report, "effective_share", 0)),
                                 human_seconds(number_or(report, "effective_seconds", 0)),
                                 human_seconds(number_or(report, "total_seconds", 0)));
  if (const std::string thief = string_or(report, "biggest_thief", ""); !thief.empty()) {
    text += fmt::format("; biggest thief: {}, {}", clean(thief),
                        human_seconds(number_or(report, "thief_seconds", 0)));
  }
  return text;
}

std::string phases_text(const json::array& rows, const Style& style) {
  Table table({{""}, {"", Align::right}, {"", Align::right}, {""}});
  for (const json::value& value : rows) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    const double share = std::clamp(number_or(row, "share", 0), 0.0, 1.0);
    const std::string phase = string_or(row, "phase", "-");
    const auto length =
        static_cast<std::size_t>(std::lround(share * static_cast<double>(bar_columns)));
    table.add({phase, human_seconds(number_or(row, "seconds", 0)), percent(share),
               Cell(std::string(length, '#'),
                    phase == to_string(core::Phase::stepping) ? Colour::green : Colour::yellow)});
  }
  return table.text(style, "  ");
}

std::string boards_text(const json::array& rows, const Style& style) {
  Table table({{""}, {""}, {""}, {""}});
  for (const json::value& value : rows) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    const std::string verdict = string_or(row, "verdict", "-");
    std::string use = count(int_or(row, "attempts", 0), "attempt");
    if (const auto hottest = get_number(row, "hottest_c")) {
      use += fmt::format(", up to {:.0f} °C", *hottest);
    }
    table.add({string_or(row, "serial", "-"), Cell(verdict, colour_of(verdict)), std::move(use),
               string_or(row, "reason", "")});
  }
  return table.text(style, "  ");
}

// "2x4 in attempts 1 and 3"; empty: it had none.
std::string meshes_line(const json::object& report) {
  std::string text;
  for (const json::value& value : views::list_in(report, "meshes")) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    text +=
        fmt::format("{}{} in {} {}", text.empty() ? "" : "; ", clean(string_or(row, "mesh", "-")),
                    int_or(row, "attempts", 1) == 1 ? "attempt" : "attempts",
                    shortened(clean(string_or(row, "numbers", "")), 40));
  }
  return text.empty() ? "" : report_line("mesh", text);
}

// Of a run on several; nothing otherwise.
std::string devices_table(const json::object& report, const Style& style) {
  const auto devices = views::device_table(views::list_in(report, "devices"));
  if (devices.rows.size() < 2) return {};
  std::vector<Table::Column> columns;
  for (const std::string& title : devices.columns) {
    columns.push_back({title, columns.empty() ? Align::left : Align::right});
  }
  Table table(std::move(columns));
  for (const auto& row : devices.rows) table.add({row.begin(), row.end()});
  return "\nDevices:\n" + table.text(style, "  ");
}

std::string format_report(const json::object& report, const Style& style) {
  const std::string state = clean(string_or(report, "state", "UNKNOWN"));
  const std::string reason = clean(string_or(report, "reason", ""));
  std::string text =
      coloured(fmt::format("Run {}: {}", clean(string_or(report, "program", "-")), state),
               Colour::bold, style);
  text += reason.empty() ? "\n\n" : fmt::format(" ({})\n\n", reason);
  text += report_line("attempts", attempts_text(report));
  text += meshes_line(report);
  text += report_line("steps", steps_sum(report));
  text += report_line("loss", loss_text(report));
  text += held_out_line(report);
  text += early_end_line(report);
  text += data_line(report);
  text += report_line("tokens", tokens_text(report));
  text += programs_line(report);
  text += report_line("wall time", human_seconds(number_or(report, "wall_seconds", 0)));
  text += report_line("effective training", effective_text(report));
  text += evaluations_text(report, style);
  text += samples_text(report, style);
  if (const auto rows = get_array(report, "phases"); rows && !(*rows)->empty()) {
    text += "\nWhere the time went:\n" + phases_text(**rows, style);
  }
  if (const auto rows = get_array(report, "boards"); rows && !(*rows)->empty()) {
    text += "\nBoards:\n" + boards_text(**rows, style);
  }
  text += devices_table(report, style);
  return text;
}

struct ReportRequest {
  std::string program;
  std::string html;  // the file to write; "-": stdout; empty: a text
};

int show_report(const Context& context, const ReportRequest& request) {
  std::string program = request.program;
  if (program.empty()) {
    auto only = only_program(context, "report");
    if (!only) return finish(context, only.error());
    program = std::move(*only);
  }
  if (!request.html.empty()) return write_report_page(context, program, request.html);
  auto document = as_object(ask(context, target_of(program, "report"),
                                [&](const store::Store& store) -> Result<json::value> {
                                  return store.report_json(program);
                                }));
  if (document) add_pin_reason(*document);
  return print_document(context, document, [&](const json::object& report) {
    return format_report(report, context.style());
  });
}

}  // namespace

void add_report(Cli& cli) {
  auto& request = cli.keep<ReportRequest>();
  const Verb verb = cli.verb("report", "what a run came to, and where its time went");
  verb.option("NAME", request.program, "the only program, if there is one");
  verb.option("--html", request.html, "its page, as one file to send; - for stdout");
  cli.on(verb, request, show_report);
}

}  // namespace trainward::ctl
