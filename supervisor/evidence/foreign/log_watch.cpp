#include "supervisor/evidence/foreign/log_watch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "common/base/cases.hpp"
#include "common/base/number_in.hpp"
#include "common/base/text.hpp"
#include "common/protocol/protocol.hpp"
#include "supervisor/evidence/foreign/checkpoints/checkpoint_step.hpp"

namespace trainward::foreign {
namespace {

constexpr std::size_t max_line_bytes = 64 * 1024;

constexpr auto group_names = [] {
  std::array<std::string_view, step_figures.size() + 3> names{"step", "phase", "checkpoint"};
  std::ranges::transform(step_figures, names.begin() + 3, &StepFigure::name);
  return names;
}();

// Latin-1: a pattern then matches bytes, and a log with broken UTF-8 is searched all the same.
RE2::Options options() {
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  return options;
}

// Logs group digits in all the ways people do: 12,345 and 12_345 are 12345.
std::optional<std::int64_t> whole(std::string text) {
  std::erase_if(text, [](char c) { return c == ',' || c == '_'; });
  return number_in<std::int64_t>(text);
}

// What other languages write and RE2 does not read.
std::string_view cure_of(std::string_view match) {
  for (const std::string_view around : {"(?=", "(?!", "(?<=", "(?<!"}) {
    if (match.find(around) != std::string_view::npos) {
      return "; RE2 looks neither ahead nor back: match the text around it outside the group";
    }
  }
  if (match.find("(?<") != std::string_view::npos) {
    return "; a named group is written with a P, as in (?P<step>[0-9]+)";
  }
  return "";
}

}  // namespace

struct LogWatch::Rule {
  explicit Rule(const LogRule& rule) : expression(rule.match, options()), phase(rule.phase) {}
  RE2 expression;
  std::string phase;
};

Status check(const LogRule& rule) {
  const RE2 expression(rule.match, options());
  if (!expression.ok()) {
    return fail(ErrorKind::usage, fmt::format("not an RE2 expression: {}{}", expression.error(),
                                              cure_of(rule.match)));
  }
  const auto& groups = expression.NamedCapturingGroups();
  for (const auto& [name, number] : groups) {
    if (std::find(group_names.begin(), group_names.end(), name) != group_names.end()) continue;
    const std::string near = nearest(name, group_names);
    return fail(ErrorKind::usage,
                near.empty() ? fmt::format("unknown group '{}'; valid: {}", name,
                                           fmt::join(group_names, ", "))
                             : fmt::format("unknown group '{}'; did you mean '{}'?", name, near));
  }
  if (groups.empty() && rule.phase.empty()) {
    return fail(ErrorKind::usage,
                "says nothing; give it a group such as (?P<step>[0-9]+), or a phase");
  }
  if (RE2::PartialMatch("", expression)) {
    return fail(ErrorKind::usage, "matches an empty line, and so every line");
  }
  return {};
}

LogWatch::LogWatch(const std::vector<LogRule>& rules, std::filesystem::path directory,
                   std::shared_ptr<Recognizer> recognizer)
    : directory_(std::move(directory)), recognizer_(std::move(recognizer)), lines_(max_line_bytes) {
  for (const LogRule& rule : rules) {
    if (check(rule)) rules_.push_back(std::make_unique<Rule>(rule));
  }
}
LogWatch::LogWatch(LogWatch&&) noexcept = default;
LogWatch& LogWatch::operator=(LogWatch&&) noexcept = default;
LogWatch::~LogWatch() = default;

Events LogWatch::feed(std::string_view chunk) {
  Events events;
  lines_.feed(chunk, [&](std::string_view line, std::int64_t) { take_line(line, events); });
  return events;
}

Events LogWatch::end() {
  Events events;
  lines_.finish([&](std::string_view line, std::int64_t) { take_line(line, events); });
  if (recognizer_) recognizer_->end(events);
  if (recognizer_ && rules_.empty()) recognizer_->say_if_nothing(true, events);
  return events;
}

void LogWatch::take_line(std::string_view line, Events& events) const {
  for (const auto& rule : rules_) {
    const RE2& expression = rule->expression;
    std::vector<re2::StringPiece> groups(
        static_cast<std::size_t>(expression.NumberOfCapturingGroups()) + 1);
    const re2::StringPiece piece(line.data(), line.size());
    if (!expression.Match(piece, 0, line.size(), RE2::UNANCHORED, groups.data(),
                          static_cast<int>(groups.size()))) {
      continue;
    }
    std::map<std::string, std::string> found;
    for (const auto& [name, number] : expression.NamedCapturingGroups()) {
      const re2::StringPiece& group = groups[static_cast<std::size_t>(number)];
      if (!group.empty()) found[name] = std::string(group.data(), group.size());
    }
    const std::string phase = is_phase(found["phase"]) ? found["phase"] : rule->phase;
    if (!phase.empty()) events.emplace_back(core::PhaseEntered{phase});
    const auto step = whole(found["step"]);
    const bool plausible = step && *step > 0 && *step <= max_step;
    const std::string checkpoint = found["checkpoint"];
    if (!checkpoint.empty()) {
      const auto path = (directory_ / checkpoint).lexically_normal();
      const auto in_name = step_in_name(path.filename().string());
      events.emplace_back(
          core::CheckpointReported{path.string(), {plausible ? *step : in_name.value_or(0)}});
    } else if (plausible) {
      StepFigures told;
      for (const StepFigure& figure : step_figures) {
        const std::string& text = found[std::string(figure.name)];
        std::visit(Cases{[&](StepFigure::Real member) { told.*member = number_in<double>(text); },
                         [&](StepFigure::Whole member) { told.*member = whole(text); }},
                   figure.member);
      }
      events.emplace_back(core::StepDone{{*step}, trainward::plausible(told)});
    }
    return;
  }
  if (!recognizer_) return;
  recognizer_->take(line, events);
  if (rules_.empty()) recognizer_->say_if_nothing(false, events);
}

}  // namespace trainward::foreign
