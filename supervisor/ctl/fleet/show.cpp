#include "supervisor/ctl/fleet/show.hpp"

#include <algorithm>
#include <iterator>

#include "common/base/text.hpp"
#include "supervisor/ctl/base/status_lines.hpp"
#include "supervisor/ctl/client/program_names.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/decide/view/sentence.hpp"

namespace trainward::ctl::fleet {
namespace {

constexpr const char* no_answer = "UNREACHABLE";

Names names_in(const json::array& programs) {
  Names names;
  for (const json::value& row : programs) names.push_back(string_or(row.get_object(), "name", ""));
  return names;
}

bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Leaves the programs that are meant; those that no machine knows.
Names keep_named(std::vector<HostAnswer>& answers, const Names& names) {
  Names known;
  for (const HostAnswer& answer : answers) {
    for (const std::string& name : names_in(answer.programs)) {
      if (!has(known, name)) known.push_back(name);
    }
  }
  const Names meant = meant_by(names, known);
  for (HostAnswer& answer : answers) {
    json::array kept;
    for (const json::value& row : answer.programs) {
      if (has(meant, string_or(row.get_object(), "name", ""))) kept.push_back(row);
    }
    answer.programs = std::move(kept);
  }
  Names unknown;
  std::copy_if(meant.begin(), meant.end(), std::back_inserter(unknown),
               [&](const std::string& name) { return !has(known, name); });
  return unknown;
}

json::array document_of(const std::vector<HostAnswer>& answers) {
  json::array hosts;
  for (const HostAnswer& answer : answers) {
    json::object host{{"host", answer.host}, {"answered", !answer.failure}};
    if (answer.failure) {
      const Error& error = answer.failure->error;
      host["error"] = {{"kind", to_string(error.kind)},
                       {"what", error.what},
                       {"where", error.where},
                       {"hint", error.hint}};
    } else {
      host["programs"] = answer.programs;
      json::array troubles;
      for (const std::string& trouble : answer.troubles) troubles.emplace_back(trouble);
      host["trouble"] = std::move(troubles);
    }
    hosts.emplace_back(std::move(host));
  }
  return hosts;
}

// "3 hosts: 7 programs, 1 needs somebody. 1 host does not answer."
std::string headline(const std::vector<HostAnswer>& answers, std::int64_t now_ms) {
  json::array programs;
  std::int64_t silent = 0;
  for (const HostAnswer& answer : answers) {
    if (answer.failure) ++silent;
    programs.insert(programs.end(), answer.programs.begin(), answer.programs.end());
  }
  std::string text = count(std::ssize(answers), "host") + ": ";
  text += programs.empty() ? "no program." : views::headline_of(views::told_of(programs, now_ms));
  if (silent > 0) {
    text += fmt::format(" {} {} not answer.", count(silent, "host"), silent == 1 ? "does" : "do");
  }
  return text;
}

std::string table(const std::vector<HostAnswer>& answers, const Context& context) {
  std::vector<StatusLine> lines;
  for (const HostAnswer& answer : answers) {
    if (answer.failure) {
      const Error& error = answer.failure->error;
      const std::string hint = error.hint.empty() ? "" : " (" + error.hint + ")";
      lines.push_back({answer.host, "-", no_answer, error.what + hint, ""});
      continue;
    }
    for (const json::value& row : answer.programs) {
      lines.push_back(status_line(row.get_object(), context));
      lines.back().host = answer.host;
      // Said once, of the machine.
      if (has(answer.troubles, lines.back().trouble)) lines.back().trouble.clear();
    }
    if (answer.programs.empty()) lines.push_back({answer.host, "-", "-", "no program", ""});
  }
  return text_of(lines, context.style());
}

}  // namespace

int show(const Context& context, std::vector<HostAnswer> answers, const Names& names) {
  const Names unknown = names.empty() ? Names() : keep_named(answers, names);
  std::string not_known;
  for (const std::string& name : unknown) not_known += clean(name) + ": ERROR (no such process)\n";
  if (context.settings.json) {
    context.print_json({{"hosts", document_of(answers)}});
    context.terminal.err << not_known;
  } else {
    for (const HostAnswer& answer : answers) {
      for (const std::string& trouble : answer.troubles) {
        context.terminal.err << clean(answer.host) << ": trainwardd: " << clean(trouble) << '\n';
      }
    }
    context.terminal.out << headline(answers, context.terminal.now.wall.ms) << '\n'
                         << table(answers, context) << not_known;
  }
  int worst = unknown.empty() ? exit_status::ok : exit_status::unreachable;
  for (const HostAnswer& answer : answers) {
    worst = std::max(worst, answer.failure
                                ? exit_status::unreachable
                                : exit_code_of(answer.programs, context.terminal.now.wall.ms));
  }
  return worst;
}

}  // namespace trainward::ctl::fleet
