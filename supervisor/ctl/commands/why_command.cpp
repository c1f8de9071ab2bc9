// why: the verdict on an attempt, its evidence by weight, its time by phase, what to do next.
#include <algorithm>

#include "common/base/text.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/program_names.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/logs/log_source.hpp"
#include "supervisor/ctl/output/output_rows.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/ctl/output/table.hpp"
#include "supervisor/decide/core/cause.hpp"
#include "supervisor/decide/view/attempt_view.hpp"
#include "supervisor/decide/view/sentence.hpp"
#include "supervisor/evidence/excerpt/log_excerpt.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::ctl {
namespace {

struct WhyRequest {
  std::string program;
  std::optional<std::int64_t> attempt;  // the newest that ended
  std::int64_t lines = 0;               // of its log, around the one that decided
};

std::string facts_of(const json::object& attempt, const Context& context) {
  std::string text;
  if (const auto started = wall_ms_of(string_or(attempt, "started_at", ""))) {
    text += fmt::format("  started  {} ({})\n", time_text(*started, context.settings.utc),
                        age(context.terminal.now.wall.ms - *started));
  }
  if (const auto took = get_number(attempt, "duration_s")) {
    const std::string exit = string_or(attempt, "exit", "");
    text += fmt::format("  took     {}{}\n", human_seconds(*took),
                        exit.empty() ? "" : ", ended with " + clean(exit));
  } else {
    text += "  took     still running\n";
  }
  if (const std::string boards = views::board_words(attempt); !boards.empty()) {
    text += fmt::format("  {}   {}\n", boards.find(',') == std::string::npos ? "board " : "boards",
                        clean(boards));
  }
  if (const std::string mesh = string_or(attempt, "mesh", ""); !mesh.empty()) {
    text += fmt::format("  mesh     {}\n", clean(mesh));
  }
  if (const std::string programs = programs_text(attempt); !programs.empty()) {
    text += fmt::format("  programs {}\n", programs);
  }
  if (const std::string began = views::source_words(attempt); !began.empty()) {
    text += fmt::format("  began    {}\n", began);
  }
  text += "  steps    " + views::steps_words(attempt) + "\n";
  if (const std::string folder = string_or(attempt, "folder", ""); !folder.empty()) {
    text += fmt::format("  files    {}\n", clean(folder));
  }
  return text;
}

std::string evidence_of(const json::array& rows, const Style& style) {
  std::vector<const json::object*> sorted;
  for (const json::value& row : rows) {
    if (row.is_object()) sorted.push_back(&row.get_object());
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return int_or(*a, "weight", 0) > int_or(*b, "weight", 0);
  });
  Table table({{"", Align::right}, {""}, {""}, {""}});
  for (const json::object* row : sorted) {
    const std::string location = string_or(*row, "location", "");
    table.add({fmt::format("{}", int_or(*row, "weight", 0)), string_or(*row, "source", ""),
               string_or(*row, "cause", ""),
               string_or(*row, "text", "") + (location.empty() ? "" : " [" + location + "]")});
  }
  return table.text(style, "  ");
}

// What the worker itself said last, for a reader who knows the program better than we do.
std::string last_words(const std::string& standard_error, const Style& style) {
  constexpr std::int64_t most_lines = 10;
  constexpr std::size_t longest = 200;
  std::vector<std::string_view> lines;
  for (std::string_view rest = trim(standard_error); !rest.empty();) {
    lines.push_back(take_line(rest));
  }
  if (lines.empty()) return {};
  const auto shown = std::min<std::int64_t>(most_lines, std::ssize(lines));
  std::string text = "\nThe last lines of its stderr:\n";
  for (auto line = lines.end() - shown; line != lines.end(); ++line) {
    text += coloured("  | " + shortened(clean(*line), longest), Colour::dim, style) + "\n";
  }
  return text;
}

// The line that decided stands out.
std::string log_of(const json::object& why, const Style& style) {
  const auto log = get_object(why, "log");
  if (!log) return {};
  const auto lines = get_array(**log, "lines");
  if (!lines) return {};
  const auto deciding = get_int(**log, "deciding_line");
  std::string text = fmt::format(
      "\nIts {}{}:\n", clean(string_or(**log, "stream", "log")),
      deciding ? fmt::format(" around line {}, which decided", *deciding) : ", the last lines");
  std::int64_t number = int_or(**log, "first_line", 1);
  for (const json::value& line : **lines) {
    const std::string said = line.is_string() ? clean(view(line.get_string())) : "";
    const bool is_it = deciding && *deciding == number;
    text += coloured(fmt::format("  {} {:>6} | {}", is_it ? ">" : " ", number, said),
                     is_it ? Colour::bold : Colour::dim, style);
    text += '\n';
    ++number;
  }
  return text;
}

std::string format_why(const json::object& why, const std::string& standard_error, bool daemon_runs,
                       const Context& context) {
  const Style style = context.style();
  const std::string name = clean(string_or(why, "program", "-"));
  const std::string state = clean(string_or(why, "state", "UNKNOWN"));
  const std::string reason = clean(string_or(why, "reason", ""));
  const auto found = get_object(why, "attempt");
  json::object row = why;
  row["name"] = name;
  row["cause"] = found ? string_or(**found, "cause", "") : "";
  const views::Sentence sentence =
      views::sentence_of(row, context.terminal.now.wall.ms, daemon_runs);
  const std::string next = fmt::format("Next: {}\n", views::next_step(sentence, name));
  if (!found) {
    return fmt::format("{} is {}{}; it has had no attempt yet.\n{}", name, state,
                       reason.empty() ? "" : " (" + reason + ")", next);
  }
  const json::object& attempt = **found;
  const std::string cause = clean(string_or(attempt, "cause", ""));
  const std::string verdict = clean(string_or(attempt, "verdict", ""));

  std::string text = coloured(fmt::format("{}, attempt {}: {}", name, int_or(attempt, "attempt", 0),
                                          cause.empty() ? "still running" : cause),
                              Colour::bold, style);
  text += '\n';
  if (!verdict.empty()) text += verdict + '\n';
  text += '\n' + facts_of(attempt, context);

  if (const auto rows = get_array(why, "evidence"); rows && !(*rows)->empty()) {
    text += "\nEvidence, strongest first:\n" + evidence_of(**rows, style);
  }
  if (const auto rows = get_array(why, "phases"); rows && !(*rows)->empty()) {
    Table table({{""}, {"", Align::right}, {""}});
    for (const json::value& value : **rows) {
      if (!value.is_object()) continue;
      const json::object& row = value.get_object();
      const std::string because = string_or(row, "cause", "");
      table.add({string_or(row, "phase", ""), human_seconds(number_or(row, "seconds", 0)),
                 because.empty() ? "" : "after " + because});
    }
    text += "\nWhere its time went:\n" + table.text(style, "  ");
  }
  text += last_words(standard_error, style);
  text += log_of(why, style);
  text += fmt::format("\nNow:  {}{}\n", state, reason.empty() ? "" : ", " + reason);
  text += next;
  // What is to be done says it already where somebody has to act.
  if (const std::string advice = views::advice_words(cause);
      !advice.empty() && sentence.need != views::Need::must) {
    text += fmt::format("      {}\n", advice);
  }
  return text;
}

// Of an attempt that failed. What cannot be read is left out: the verdict stands without.
std::string standard_error_of(const Context& context, const json::object& why) {
  constexpr std::int64_t most_bytes = 8'192;
  const auto attempt = get_object(why, "attempt");
  if (!attempt || !core::is_fault(core::cause_from(string_or(**attempt, "cause", "")))) return {};
  if (string_or(**attempt, "cause", "").empty()) return {};
  const auto piece =
      read_log_piece(context, {string_or(why, "program", ""), "stderr",
                               int_or(**attempt, "attempt", 0), -most_bytes, most_bytes});
  return piece ? piece->bytes : "";
}

// The daemon cuts the log. One of an older version does not: it refuses the parameter, and what it
// names is read here.
Answer<json::object> why_of(const Context& context, const WhyRequest& request, std::int64_t lines,
                            bool& daemon_runs) {
  std::string target = target_of(request.program, "why");
  if (request.attempt) target += fmt::format("?attempt={}", *request.attempt);
  const std::string with_log =
      lines > 0 ? fmt::format("{}{}lines={}", target, request.attempt ? "&" : "?", lines) : target;
  const auto from_database = [&](const store::Store& store) -> Result<json::value> {
    daemon_runs = false;
    auto why = store.why_json(request.program, request.attempt);
    if (!why) return propagate(why);
    if (lines > 0) (*why)["log"] = log_excerpt(*why, static_cast<int>(lines));
    return json::value(std::move(*why));
  };
  auto document = as_object(ask(context, with_log, from_database));
  if (document || lines == 0 || document.error().error.kind != ErrorKind::usage ||
      document.error().error.what.find("'lines'") == std::string::npos) {
    return document;
  }
  document = as_object(ask(context, target, from_database));
  if (document && !document->contains("log")) {
    (*document)["log"] = log_excerpt(*document, static_cast<int>(lines));
  }
  return document;
}

int show_why(const Context& context, const WhyRequest& asked) {
  WhyRequest request = asked;
  if (request.program.empty()) {
    auto only = only_program(context, "why");
    if (!only) return finish(context, only.error());
    request.program = std::move(*only);
  }
  const auto lines = std::min<std::int64_t>(request.lines, most_lines_around);
  bool daemon_runs = true;
  const auto document = why_of(context, request, lines, daemon_runs);
  return print_document(context, document, [&](const json::object& why) {
    return format_why(why, lines > 0 ? "" : standard_error_of(context, why), daemon_runs, context);
  });
}

}  // namespace

void add_why(Cli& cli) {
  auto& request = cli.keep<WhyRequest>();
  const Verb verb = cli.verb("why", "why an attempt ended, with the evidence");
  verb.option("NAME", request.program, "the only program, if there is one");
  verb.option("ATTEMPT", request.attempt).positive();
  verb.option("--lines", request.lines, "show its log, so many lines around the one that decided")
      .range(1, most_lines_around);
  cli.on(verb, request, show_why);
}

}  // namespace trainward::ctl
