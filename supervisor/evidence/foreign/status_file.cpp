#include "supervisor/evidence/foreign/status_file.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "common/base/cases.hpp"
#include "common/base/json/json.hpp"
#include "common/protocol/protocol.hpp"

namespace trainward::foreign {
namespace {

bool starts_at(std::string_view text, std::size_t at, std::string_view word) {
  return text.substr(at, word.size()) == word;
}

// Python writes NaN and infinities as words that JSON does not have. A loss that is not a number
// must not be missed.
std::string with_quoted_specials(std::string_view text) {
  constexpr std::array<std::string_view, 3> words{"NaN", "-Infinity", "Infinity"};
  std::string out;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (in_string && c == '\\' && at + 1 < text.size()) {
      out.append(text, at, 2);
      at += 2;
      continue;
    }
    if (c == '"') in_string = !in_string;
    std::string_view special;
    for (const std::string_view word : words) {
      if (!in_string && special.empty() && starts_at(text, at, word)) special = word;
    }
    if (special.empty()) {
      out += c;
      ++at;
    } else {
      out.append("\"").append(special).append("\"");
      at += special.size();
    }
  }
  return out;
}

// Python's json writes counters as 12 or, after a division, as 12.0.
std::optional<std::int64_t> whole(const json::object& status, const std::string& key) {
  const json::value* value = status.if_contains(key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double number = value->to_number<double>();
  if (!(number >= 0 && number <= 9e15) || number != std::floor(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

// Nothing when it is absent or no number at all.
std::optional<double> real(const json::object& status, const std::string& key) {
  const json::value* value = status.if_contains(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return value->to_number<double>();
  if (!value->is_string()) return std::nullopt;
  const std::string_view word = value->get_string();
  if (word == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (word == "Infinity") return std::numeric_limits<double>::infinity();
  if (word == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

// Those that `keys` names, and every other under its own name.
StepFigures figures_of(const json::object& status, const StatusKeys& keys) {
  StepFigures told;
  for (const StepFigure& figure : step_figures) {
    const std::string key(figure.name);
    std::visit(Cases{[&](StepFigure::Real member) { told.*member = real(status, key); },
                     [&](StepFigure::Whole member) { told.*member = whole(status, key); }},
               figure.member);
  }
  told.loss = real(status, keys.loss);
  told.tokens = whole(status, keys.tokens);
  told.tokens_per_second = real(status, keys.tokens_per_second);
  return plausible(told);
}

}  // namespace

Events StatusFile::read(std::string_view text) {
  Events events;
  if (text.empty() || text.size() > max_status_bytes) return events;
  const std::size_t hash = std::hash<std::string_view>{}(text);
  if (hash == last_text_) return events;
  const auto value = parse_json(with_quoted_specials(text), "status file");
  if (!value || !value->is_object()) return events;
  last_text_ = hash;
  const json::object& status = value->get_object();

  const std::string phase = string_or(status, keys_.phase, "");
  const bool known_phase = is_phase(phase);
  if (known_phase) events.emplace_back(core::PhaseEntered{phase});
  const auto step = whole(status, keys_.step);
  const double updated = real(status, keys_.updated).value_or(updated_);
  if (step && *step > step_ && *step <= max_step) {
    events.emplace_back(core::StepDone{{*step}, figures_of(status, keys_)});
    step_ = *step;
  } else if (!known_phase && updated > updated_) {
    // An older report that arrives late is no life.
    events.emplace_back(core::Alive{});
  }
  if (updated > updated_ && std::isfinite(updated)) updated_ = updated;
  return events;
}

}  // namespace trainward::foreign
