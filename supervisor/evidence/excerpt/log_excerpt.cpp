#include "supervisor/evidence/excerpt/log_excerpt.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <vector>

#include "common/base/escape_sequence.hpp"
#include "common/base/text.hpp"
#include "common/base/utf8.hpp"
#include "common/wire/launch.hpp"
#include "common/wire/log_files.hpp"

namespace trainward {
namespace {

constexpr std::size_t longest_line = 65'536 / (2 * most_lines_around + 1);
// Evidence is a line as it was shown, which may have been shortened.
constexpr std::size_t enough_to_know = 60;

// "stderr.log:117"
struct Place {
  std::string file;
  std::int64_t line = 0;
};

std::optional<Place> place_of(const std::string& location) {
  const auto colon = location.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  Place place{location.substr(0, colon), 0};
  const char* end = location.data() + location.size();
  const auto parsed = std::from_chars(location.data() + colon + 1, end, place.line);
  const bool known =
      place.file == attempt_files::standard_output || place.file == attempt_files::standard_error;
  if (parsed.ec != std::errc() || parsed.ptr != end || place.line < 1 || !known)
    return std::nullopt;
  return place;
}

struct Deciding {
  Place place;
  std::string text;
};

// The evidence is in the order of its weight.
std::optional<Deciding> deciding_of(const json::object& why) {
  const auto evidence = get_array(why, "evidence");
  if (!evidence) return std::nullopt;
  for (const json::value& value : **evidence) {
    if (!value.is_object()) continue;
    auto place = place_of(string_or(value.get_object(), "location", ""));
    if (place) return Deciding{std::move(*place), string_or(value.get_object(), "text", "")};
  }
  return std::nullopt;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) lines.push_back(take_line(text));
  return lines;
}

// Of a line that was written over, as by a progress bar, what was to be seen in the end; or the
// part that is looked for.
std::string shown(std::string_view line, std::string_view wanted) {
  std::string best;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find('\r'), line.size());
    std::string part = plain_line(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
    if (trim(part).empty()) continue;
    best = std::move(part);
    if (!wanted.empty() && best.find(wanted) != std::string::npos) break;
  }
  best.resize(utf8_valid_prefix(std::string_view(best).substr(0, longest_line)));
  return best;
}

bool holds(std::string_view line, const std::string& wanted) {
  return !wanted.empty() && plain_line(line).find(wanted) != std::string::npos;
}

// Where the line is now: at its number, or where its text stands next to that, since a log that was
// longer than what was read of it may have grown since.
std::optional<std::size_t> find(const std::vector<std::string_view>& lines,
                                const Deciding& deciding, const std::string& wanted) {
  const auto at = static_cast<std::size_t>(deciding.place.line - 1);
  if (wanted.empty()) return at < lines.size() ? std::optional(at) : std::nullopt;
  for (std::size_t away = 0; away <= std::max(at, lines.size()); ++away) {
    if (away <= at && at - away < lines.size() && holds(lines[at - away], wanted)) return at - away;
    if (at + away < lines.size() && holds(lines[at + away], wanted)) return at + away;
  }
  return at < lines.size() ? std::optional(at) : std::nullopt;
}

std::string text_of(const std::filesystem::path& file) {
  auto range = read_log(file, -log_tail_bytes, log_tail_bytes);
  return range ? std::move(range->bytes) : std::string();
}

json::object cut(const std::string& file, const json::object& attempt,
                 const std::vector<std::string_view>& lines, std::size_t first, std::size_t end,
                 std::optional<std::size_t> deciding, const std::string& wanted) {
  json::array texts;
  for (std::size_t i = first; i < end; ++i) {
    texts.emplace_back(shown(lines[i], deciding == i ? std::string_view(wanted) : ""));
  }
  return {{"stream", file == attempt_files::standard_error ? "stderr" : "stdout"},
          {"attempt", int_or(attempt, "attempt", 0)},
          {"first_line", first + 1},
          {"deciding_line", deciding ? json::value(*deciding + 1) : json::value()},
          {"lines", std::move(texts)}};
}

}  // namespace

std::string plain_line(std::string_view line) { return clean(without_escape_sequences(line)); }

json::value log_excerpt(const json::object& why, int around) {
  const auto attempt = get_object(why, "attempt");
  if (!attempt || around < 1) return nullptr;
  const std::filesystem::path folder = string_or(**attempt, "folder", "");
  if (!folder.is_absolute()) return nullptr;
  const auto beside = static_cast<std::size_t>(std::min(around, most_lines_around));
  if (const auto deciding = deciding_of(why)) {
    const std::string text = text_of(folder / deciding->place.file);
    const auto lines = lines_of(text);
    std::string wanted = plain_line(trim(deciding->text));
    wanted.resize(utf8_valid_prefix(std::string_view(wanted).substr(0, enough_to_know)));
    if (const auto at = find(lines, *deciding, wanted)) {
      return cut(deciding->place.file, **attempt, lines, *at - std::min(*at, beside),
                 std::min(*at + beside + 1, lines.size()), at, wanted);
    }
  }
  for (const char* file : {attempt_files::standard_error, attempt_files::standard_output}) {
    const std::string text = text_of(folder / file);
    const auto lines = lines_of(text);
    if (lines.empty()) continue;
    return cut(file, **attempt, lines, lines.size() - std::min(lines.size(), beside), lines.size(),
               std::nullopt, "");
  }
  return nullptr;
}

}  // namespace trainward
