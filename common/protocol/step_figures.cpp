#include "common/protocol/step_figures.hpp"

#include <fmt/format.h>

#include <cmath>

#include "common/base/cases.hpp"
#include "common/base/text.hpp"

namespace trainward {
namespace {

static_assert(has_each_member<StepFigures>(step_figures));

const std::array<std::string, step_figures.size()>& message_keys() {
  static const auto keys = [] {
    std::array<std::string, step_figures.size()> upper;
    std::ranges::transform(step_figures, upper.begin(), message_key, &StepFigure::name);
    return upper;
  }();
  return keys;
}

std::string number_words(double most) {
  return most < 1e16 ? fmt::format("{:.0f}", most) : fmt::format("{}", most);
}

}  // namespace

std::vector<std::string> names_of(std::span<const StepFigure> figures) {
  std::vector<std::string> names;
  for (const StepFigure& figure : figures) names.emplace_back(figure.name);
  return names;
}

StepFigures plausible(StepFigures told) {
  for (const StepFigure& figure : step_figures) {
    const auto value = value_of(told, figure);
    if (!value || can_be(figure.unit, *value)) continue;
    if (figure.name == "loss") {
      if (std::isfinite(*value)) told.loss = std::copysign(HUGE_VAL, *value);
      continue;
    }
    std::visit([&](auto member) { (told.*member).reset(); }, figure.member);
  }
  return told;
}

StepFigures figures_in(const Message& message) {
  StepFigures told;
  for (std::size_t i = 0; i < step_figures.size(); ++i) {
    const std::string& key = message_keys().at(i);
    std::visit(Cases{[&](StepFigure::Real member) { told.*member = find_number(message, key); },
                     [&](StepFigure::Whole member) { told.*member = find_int(message, key); }},
               step_figures.at(i).member);
  }
  return plausible(told);
}

void put_figures(Message& message, const StepFigures& figures) {
  for (std::size_t i = 0; i < step_figures.size(); ++i) {
    const StepFigure& figure = step_figures.at(i);
    const auto value = value_of(figures, figure);
    if (value) message.emplace_back(message_keys().at(i), message_text(figure.unit, *value));
  }
}

std::optional<std::string> figure_out_of_range(const Message& message) {
  constexpr std::size_t longest_value = 40;
  for (std::size_t i = 0; i < step_figures.size(); ++i) {
    const std::string& key = message_keys().at(i);
    const double most = most_of(step_figures.at(i).unit);
    const auto value = find_number(message, key);
    if (!value || !std::isfinite(*value) || std::abs(*value) <= most) continue;
    return fmt::format("{}={} is beyond {}", key,
                       clean(find(message, key)->substr(0, longest_value)), number_words(most));
  }
  return std::nullopt;
}

std::string figure_text(const StepFigure& figure, double value) {
  return fmt::format("{} {}", figure.title, unit_text(figure.unit, value));
}

}  // namespace trainward
