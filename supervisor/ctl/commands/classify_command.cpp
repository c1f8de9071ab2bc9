// classify: the log of a run in; class, ladder and the deciding line out. No daemon is needed.
#include <array>

#include "common/base/text.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/logs/log_input.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/ctl/output/table.hpp"
#include "supervisor/decide/core/cause.hpp"
#include "supervisor/evidence/rules/log_classifier.hpp"

namespace trainward::ctl {
namespace {

struct ClassifyRequest {
  std::string file;   // "-": standard input
  std::string rules;  // a rules file of the user, or empty
  std::optional<int> exit_code;
  std::optional<int> signal;
};

// The names of what the supervisor does about it, one after the other.
json::array ladder_of(core::Cause cause) {
  json::array names;
  if (core::facts(cause).then == core::Then::give_up) names.emplace_back("stop");
  if (core::facts(cause).then == core::Then::rest) names.emplace_back("none");
  if (core::facts(cause).then == core::Then::at_once) names.emplace_back("retry");
  if (core::facts(cause).then != core::Then::climb) return names;
  for (const core::Remedy remedy : core::facts(cause).ladder) {
    names.emplace_back(to_string(remedy));
  }
  return names;
}

const char* transient(core::Cause cause) { return core::may_retry(cause) ? "yes" : "no"; }

json::value row_of(const rules::Finding& finding) {
  return {{"rule", finding.rule},
          {"class", to_string(finding.cause)},
          {"strength", rules::to_string(finding.strength)},
          {"weight", finding.weight},
          {"transient", transient(finding.cause)},
          {"remedy", ladder_of(finding.cause).at(0)},
          {"advice", finding.advice},
          {"line", finding.line},
          {"line_number", finding.line_number},
          {"last_line_number", finding.last_line},
          {"count", finding.count},
          {"overcome", finding.overcome}};
}

json::object document_of(const std::string& file, const rules::Conclusion& conclusion) {
  const rules::Finding* verdict = conclusion.verdict();
  const json::array ladder = verdict != nullptr ? ladder_of(verdict->cause) : json::array();
  json::array evidence;
  for (const rules::Finding& finding : conclusion.findings) evidence.push_back(row_of(finding));
  return {{"file", file},
          {"failed", conclusion.failed},
          {"class", conclusion.crash_class()},
          {"rule", verdict != nullptr ? verdict->rule : ""},
          {"transient", verdict != nullptr ? transient(verdict->cause) : "no"},
          {"remedy", ladder.empty() ? json::value("none") : ladder.at(0)},
          {"ladder", ladder},
          {"advice", verdict != nullptr ? verdict->advice : ""},
          {"line", verdict != nullptr ? verdict->line : conclusion.benign_line},
          {"line_number", verdict != nullptr ? verdict->line_number : 0},
          {"evidence", std::move(evidence)},
          {"lines", conclusion.lines},
          {"bytes", conclusion.bytes},
          {"progress_lines", conclusion.progress},
          {"benign_lines", conclusion.benign}};
}

// "line 12", or where evidence comes from that is no line.
std::string line_of(const json::object& row) {
  const std::int64_t line = int_or(row, "line_number", 0);
  return line > 0 ? "line " + grouped(line) : clean(string_or(row, "rule", "-"));
}

std::string other_evidence(const json::array& rows, std::size_t from, const Style& style) {
  Table table({{"", Align::right}, {""}, {""}, {"", Align::right}, {""}});
  for (std::size_t i = from; i < rows.size(); ++i) {
    if (!rows[i].is_object()) continue;
    const json::object& row = rows[i].get_object();
    const std::int64_t count = int_or(row, "count", 1);
    const bool overcome = bool_or(row, "overcome", false);
    table.add({Cell(fmt::format("{}", int_or(row, "weight", 0))), Cell(string_or(row, "class", "")),
               Cell(line_of(row)), Cell(count > 1 ? fmt::format("{}x", grouped(count)) : ""),
               Cell((overcome ? "(training went on) " : "") + string_or(row, "line", ""))});
  }
  return table.text(style, "  ");
}

std::string format_classified(const json::object& document, const Style& style) {
  const std::string crash_class = clean(string_or(document, "class", "unknown"));
  const bool failed = bool_or(document, "failed", false);
  const core::Cause cause = core::cause_from(crash_class);
  std::string text =
      coloured(fmt::format("{}: {}", crash_class,
                           failed ? core::facts(cause).words : "nothing here says that it failed"),
               Colour::bold, style);
  text += '\n';
  const auto evidence = get_array(document, "evidence");
  if (failed) {
    text += fmt::format("  remedy  {}\n", core::ladder_text(cause));
    if (const std::string advice = clean(string_or(document, "advice", "")); !advice.empty()) {
      text += fmt::format("  advice  {}\n", advice);
    }
    if (evidence && !(*evidence)->empty() && (**evidence)[0].is_object()) {
      const json::object& first = (**evidence)[0].get_object();
      text += fmt::format("  rule    {}\n", clean(string_or(first, "rule", "-")));
      text += fmt::format("  {}: {}\n", line_of(first), clean(string_or(first, "line", "")));
    }
  } else if (const std::string line = clean(string_or(document, "line", "")); !line.empty()) {
    text += fmt::format("  a line that only looks bad: {}\n", line);
  }
  const std::size_t shown = failed ? 1 : 0;
  if (evidence && (*evidence)->size() > shown) {
    text += failed ? "\nFurther evidence, strongest first:\n" : "\nWhat came up on the way:\n";
    text += other_evidence(**evidence, shown, style);
    if (!text.ends_with('\n')) text += '\n';
  }
  return text;
}

int classify(const Context& context, const ClassifyRequest& request) {
  auto matcher = rules::LogMatcher::load(request.rules);
  if (!matcher) {
    context.terminal.err << "trainwardctl: " << clean(matcher.error().message()) << '\n';
    return exit_status::failed;
  }
  for (const std::string& warning : matcher->warnings()) {
    context.terminal.err << "trainwardctl: " << clean(warning) << '\n';
  }
  rules::LogClassifier classifier(*matcher);
  const auto feed = [&classifier](std::string_view bytes) { classifier.feed(bytes); };
  if (const Status read = read_input(request.file, feed); !read) {
    context.terminal.err << "trainwardctl: " << clean(read.error().message()) << '\n';
    return exit_status::failed;
  }
  const auto conclusion = classifier.conclude({request.exit_code, request.signal});
  const json::object document = document_of(request.file, conclusion);
  if (context.settings.json) {
    context.print_json(document);
  } else {
    context.terminal.out << format_classified(document, context.style());
  }
  return exit_status::ok;
}

}  // namespace

void add_classify(Cli& cli) {
  auto& request = cli.keep<ClassifyRequest>();
  const Verb verb = cli.verb("classify", "why a log says that training failed");
  verb.option("FILE", request.file, "a log, or - for standard input").required();
  verb.option("--rules", request.rules, "a rules file of your own");
  verb.option("--exit-code", request.exit_code, "how the process ended: its exit code")
      .range(0, 255);
  const auto read_signal = [&request](const std::string& name) {
    request.signal = signal_number(name);
    return request.signal ? "" : "no such signal";
  };
  verb.option_read_by("--signal", read_signal, "how the process ended: SIGKILL, KILL or 9")
      .excludes("--exit-code");
  cli.on(verb, request, classify);
}

}  // namespace trainward::ctl
