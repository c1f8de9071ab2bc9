#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "common/file.hpp"
#include "supervisor/ctl/commands.hpp"
#include "supervisor/ctl/format.hpp"
#include "supervisor/ctl/words.hpp"
#include "supervisor/rules/log_classifier.hpp"

namespace trainward::ctl {
namespace {

constexpr std::size_t piece_bytes = 256 * 1024;

Status read_all(int fd, const std::string& name, rules::LogClassifier& classifier) {
  std::string piece(piece_bytes, '\0');
  for (;;) {
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "read", name);
    if (got == 0) return {};
    classifier.feed(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
  }
}

Status read_log(const std::string& file, rules::LogClassifier& classifier) {
  if (file == "-") return read_all(STDIN_FILENO, "standard input", classifier);
  auto fd = open_file(file, O_RDONLY);
  if (!fd) return propagate(fd);
  return read_all(fd->get(), file, classifier);
}

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

}  // namespace

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
  if (const Status read = read_log(request.file, classifier); !read) {
    context.terminal.err << "trainwardctl: " << clean(read.error().message()) << '\n';
    return exit_status::failed;
  }
  const auto conclusion = classifier.conclude({request.exit_code, request.signal});
  const json::object document = document_of(request.file, conclusion);
  if (context.settings.json) {
    context.print_json(document);
  } else {
    const Style style{context.terminal.colour, context.terminal.width};
    context.terminal.out << format_classified(document, style);
  }
  return exit_status::ok;
}

}  // namespace trainward::ctl
