#include "supervisor/record/metrics/format.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>

namespace trainward::metrics {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

// Takes what stands before the separator off the front; separators within quotes do not count.
std::string_view next_part(std::string_view& rest, char separator) {
  bool quoted = false;
  std::size_t end = 0;
  for (; end < rest.size(); ++end) {
    if (quoted && rest[end] == '\\') {
      ++end;
    } else if (rest[end] == '"') {
      quoted = !quoted;
    } else if (rest[end] == separator && !quoted) {
      break;
    }
  }
  end = std::min(end, rest.size());
  const std::string_view part = trimmed(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// "0.75" as thousandths; what is no weight counts as none.
int thousandths(std::string_view weight) {
  if (weight.empty() || (weight[0] != '0' && weight[0] != '1')) return 0;
  int value = (weight[0] - '0') * 1000;
  if (weight.size() == 1) return value;
  if (weight[1] != '.' || weight.size() > 5) return 0;
  int place = 100;
  for (const char c : weight.substr(2)) {
    if (c < '0' || c > '9') return 0;
    value += (c - '0') * place;
    place /= 10;
  }
  return value > 1000 ? 0 : value;
}

struct Range {
  std::string type;
  std::string version;  // empty: any
  int weight = 1000;
};

Range range_of(std::string_view text) {
  Range range;
  range.type = lower(next_part(text, ';'));
  while (!text.empty()) {
    std::string_view parameter = next_part(text, ';');
    const std::string name = lower(next_part(parameter, '='));
    std::string_view value = trimmed(parameter);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    if (name == "q") range.weight = thousandths(value);
    if (name == "version") range.version = value;
  }
  return range;
}

}  // namespace

std::string_view content_type(Format format) {
  return format == Format::openmetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

Format wanted_format(std::string_view accept) {
  // Of a form, how exactly a range names it, and the weight of the most exact one.
  struct Rank {
    int exact = 0;
    int weight = 0;
    void take(int how_exact, int its_weight) {
      if (how_exact < exact) return;
      weight = how_exact == exact ? std::max(weight, its_weight) : its_weight;
      exact = how_exact;
    }
  };
  Rank text;
  Rank openmetrics;
  while (!accept.empty()) {
    const Range range = range_of(next_part(accept, ','));
    if (range.type == "application/openmetrics-text") {
      if (range.version.empty() || range.version == "1.0.0") openmetrics.take(1, range.weight);
    } else if (range.type == "text/plain") {
      if (range.version.empty() || range.version == "0.0.4") text.take(3, range.weight);
    } else if (range.type == "text/*") {
      text.take(2, range.weight);
    } else if (range.type == "*/*") {
      text.take(1, range.weight);
    }
  }
  return openmetrics.weight > 0 && openmetrics.weight >= text.weight ? Format::openmetrics
                                                                     : Format::text;
}

}  // namespace trainward::metrics
