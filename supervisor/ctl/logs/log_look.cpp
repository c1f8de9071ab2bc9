#include "supervisor/ctl/logs/log_look.hpp"

#include <cmath>

namespace trainward::ctl {
namespace {

constexpr std::size_t max_line_bytes = 64 * 1024;
constexpr std::size_t text_shown = 200;
constexpr std::size_t rows_shown = 4;  // of the first lines, and of the last

json::value or_null(const std::optional<std::int64_t>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::value or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json::value(*value) : json::value(nullptr);
}

json::value words(std::string_view text) { return json::value(std::string(text)); }

}  // namespace

RuleSteps::RuleSteps(const foreign::Format& format)
    : format_(&format), watch_({{std::string(format.rule), "train"}}, "/"), progress_(0) {}

void RuleSteps::take(std::string_view line) {
  for (const auto& event : progress_.news(watch_.feed(std::string(line) + "\n"))) {
    const auto* step = std::get_if<core::StepDone>(&event);
    if (step == nullptr) continue;
    ++count_;
    newest_ = step->step.number;
  }
}

LogLook::LogLook(const foreign::Format* only)
    : only_(only), recognizer_(only), lines_(max_line_bytes) {
  for (const foreign::Format& format : foreign::formats()) {
    if (!format.rule.empty()) rules_.emplace_back(format);
  }
}

void LogLook::feed(std::string_view bytes) {
  bytes_ += static_cast<std::int64_t>(bytes.size());
  lines_.feed(bytes, [this](std::string_view line, std::int64_t number) { take(line, number); });
}

void LogLook::end() {
  lines_.finish([this](std::string_view line, std::int64_t number) { take(line, number); });
  foreign::Events events;
  recognizer_.end(events);
  count(events);
}

void LogLook::take(std::string_view line, std::int64_t number) {
  line_ = number;
  foreign::Events events;
  recognizer_.take(line, events);
  count(events);
  const auto read = foreign::read_line(line, only_);
  if (!read) return;
  for (RuleSteps& rule : rules_) {
    if (&rule.format() == read->format) rule.take(line);
  }
  // A bar is drawn often, and says little by itself.
  if (read->reading.kind == foreign::Reading::Kind::bar) return;
  ++lines_read_;
  keep({number, *read, std::string(line.substr(0, text_shown))});
}

void LogLook::keep(Row row) {
  if (first_.size() < rows_shown) return first_.push_back(std::move(row));
  last_.push_back(std::move(row));
  if (last_.size() > rows_shown) last_.pop_front();
}

void LogLook::count(const foreign::Events& events) {
  for (const core::Event& event : events) {
    if (const auto* step = std::get_if<core::StepDone>(&event)) {
      if (steps_++ == 0) first_step_ = step->step.number;
      last_step_ = step->step.number;
    }
    if (std::holds_alternative<core::Evaluated>(event)) ++evaluations_;
    if (const auto* noticed = std::get_if<core::Noticed>(&event)) {
      notices_.push_back(words(noticed->text));
    }
  }
}

json::value LogLook::rule() const {
  for (const RuleSteps& rule : rules_) {
    const bool same = &rule.format() == recognizer_.format() && rule.are(steps_, last_step_);
    if (same) return words(rule.format().rule);
  }
  return nullptr;
}

json::object LogLook::row_json(const Row& row) {
  const foreign::Reading& reading = row.read.reading;
  json::object document{{"line_number", row.line},
                        {"format", words(row.read.format->name)},
                        {"step", or_null(reading.step)},
                        {"epoch", or_null(reading.epoch)},
                        {"held_out_loss", or_null(reading.held_out)}};
  for (const StepFigure& figure : step_figures) {
    document[figure.name] =
        std::visit([&](auto member) { return or_null(reading.measures.*member); }, figure.member);
  }
  document["line"] = row.text;
  return document;
}

json::object LogLook::document(const std::string& file) const {
  const foreign::Format* format = recognizer_.format();
  const auto step = [this](std::int64_t number) {
    return steps_ > 0 ? json::value(number) : json::value(nullptr);
  };
  json::array rows;
  for (const Row& row : first_) rows.push_back(row_json(row));
  for (const Row& row : last_) rows.push_back(row_json(row));
  return {{"file", file},
          {"format", format != nullptr ? words(format->name) : json::value(nullptr)},
          {"notices", notices_},
          {"lines", line_},
          {"bytes", bytes_},
          {"lines_read", lines_read_},
          {"steps", steps_},
          {"first_step", step(first_step_)},
          {"last_step", step(last_step_)},
          {"evaluations", evaluations_},
          {"rule", rule()},
          {"rows", std::move(rows)}};
}

}  // namespace trainward::ctl
