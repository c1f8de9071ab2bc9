#include "common/protocol/step_figures.hpp"

#include <fmt/format.h>

#include <cmath>

#include "common/base/cases.hpp"
#include "common/base/text.hpp"

namespace trainward {
namespace {

constexpr std::array<std::string_view, step_figures.size()> described = [] {
  std::array<std::string_view, step_figures.size()> names;
  std::size_t i = 0;
  boost::mp11::mp_for_each<
      boost::describe::describe_members<StepFigures, boost::describe::mod_public>>(
      [&](auto member) { names.at(i++) = member.name; });
  return names;
}();
static_assert(std::ranges::equal(step_figures, described, {}, &StepFigure::name),
              "a row for each member, in their order");

const std::array<std::string, step_figures.size()>& message_keys() {
  static const auto keys = [] {
    std::array<std::string, step_figures.size()> upper;
    for (std::size_t i = 0; i < upper.size(); ++i) {
      for (const char c : step_figures.at(i).name) {
        upper.at(i) += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      }
    }
    return upper;
  }();
  return keys;
}

bool can_be(const StepFigure& figure, double value) {
  const double least = figure.unit == FigureUnit::plain ? -max_measure : 0;
  return value >= least && value <= most_of(figure.unit);
}

std::string number_words(double most) {
  return most < 1e16 ? fmt::format("{:.0f}", most) : fmt::format("{}", most);
}

std::string message_text(const StepFigure& figure, double value) {
  switch (figure.unit) {
    case FigureUnit::plain:
      return fmt::format("{}", value);
    case FigureUnit::tokens_per_second:
      return fmt::format("{:.1f}", value);
    case FigureUnit::share:
      return fmt::format("{:.4f}", value);
    case FigureUnit::ms:
      return fmt::format("{:.3f}", value);
    case FigureUnit::tokens:
    case FigureUnit::bytes:
      return fmt::format("{:.0f}", value);
  }
  return {};
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
    if (!value || can_be(figure, *value)) continue;
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
    if (value) message.emplace_back(message_keys().at(i), message_text(figure, *value));
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
  const auto text = [&]() -> std::string {
    switch (figure.unit) {
      case FigureUnit::plain:
        return number_text(value);
      case FigureUnit::tokens:
      case FigureUnit::tokens_per_second:
        return fmt::format("{:.0f}", value);
      case FigureUnit::share:
        return fmt::format("{:.1f} %", 100 * value);
      case FigureUnit::bytes:
        return human_bytes(static_cast<std::uint64_t>(value));
      case FigureUnit::ms:
        return fmt::format("{:.{}f} ms", value, value < 10 ? 1 : 0);
    }
    return {};
  };
  return fmt::format("{} {}", figure.title, text());
}

}  // namespace trainward
