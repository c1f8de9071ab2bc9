#include "supervisor/config/import/ini.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/base/text.hpp"

namespace trainward::config {
namespace {

constexpr std::size_t most_ini_bytes = 1024 * 1024;
constexpr std::size_t most_ini_entries = 10'000;

bool blank(char c) { return c == ' ' || c == '\t'; }

// A comment is a line of its own, or stands behind a space.
std::string_view without_comment(std::string_view line) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    const bool mark = line[at] == ';' || line[at] == '#';
    if (mark && (at == 0 || blank(line[at - 1]))) return line.substr(0, at);
  }
  return line;
}

class Reader {
 public:
  Status take(std::string_view line) {
    ++number_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool indented = !line.empty() && blank(line.front());
    const std::string_view text = trim(without_comment(line));
    if (text.empty()) return {};
    if (indented && value_ != nullptr) {
      *value_ += '\n';
      *value_ += text;
      return {};
    }
    if (text.front() == '[' && text.find(']') != std::string_view::npos) {
      open(text.substr(1, text.find(']') - 1));
      return {};
    }
    return add(text);
  }

  std::vector<IniSection> sections;

 private:
  void open(std::string_view name) {
    value_ = nullptr;
    const auto known = std::find_if(sections.begin(), sections.end(),
                                    [&](const IniSection& other) { return other.name == name; });
    at_ = static_cast<std::size_t>(known - sections.begin());
    if (known == sections.end()) sections.push_back({std::string(name), {}});
  }

  Status add(std::string_view text) {
    const auto split = text.find_first_of("=:");
    if (split == 0 || split == std::string_view::npos) {
      return fail(ErrorKind::usage,
                  fmt::format("line {}: neither a [section] nor key=value", number_));
    }
    if (sections.empty()) {
      return fail(ErrorKind::usage, fmt::format("line {}: no [section] begins before it", number_));
    }
    if (++entries_ > most_ini_entries) {
      return fail(ErrorKind::usage, fmt::format("more than {} entries", most_ini_entries));
    }
    const std::string key = lower_case(trim(text.substr(0, split)));
    std::vector<IniEntry>& entries = sections[at_].entries;
    auto entry = std::find_if(entries.begin(), entries.end(),
                              [&](const IniEntry& other) { return other.key == key; });
    if (entry == entries.end()) entry = entries.insert(entry, {key, ""});
    entry->value = trim(text.substr(split + 1));
    value_ = &entry->value;
    return {};
  }

  int number_ = 0;
  std::size_t at_ = 0;  // the open section
  std::size_t entries_ = 0;
  std::string* value_ = nullptr;  // which an indented line continues
};

}  // namespace

const std::string* IniSection::find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const IniEntry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &found->value;
}

Result<std::vector<IniSection>> parse_ini(std::string_view text) {
  if (text.size() > most_ini_bytes) {
    return fail(ErrorKind::usage, fmt::format("longer than the {} bytes allowed", most_ini_bytes));
  }
  if (text.find('\0') != std::string_view::npos) return fail(ErrorKind::usage, "not a text file");
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // byte order mark
  Reader reader;
  while (!text.empty()) {
    if (auto ok = reader.take(take_line(text)); !ok) return propagate(ok);
  }
  return std::move(reader.sections);
}

}  // namespace trainward::config
