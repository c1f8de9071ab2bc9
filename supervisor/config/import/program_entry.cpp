#include "supervisor/config/import/program_entry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "common/base/shell_words.hpp"
#include "common/base/text.hpp"
#include "common/yaml/scalar.hpp"
#include "supervisor/config/elsewhere/program_words.hpp"
#include "supervisor/config/import/expand.hpp"
#include "supervisor/config/reading/secrets.hpp"
#include "supervisor/config/sections.hpp"

namespace trainward::config {
namespace {

constexpr std::int64_t most_processes = 1000;

using Values = std::map<std::string, std::string>;

std::int64_t whole_or(const IniSection& section, std::string_view key, std::int64_t fallback) {
  const std::string* text = section.find(key);
  return text == nullptr ? fallback : yaml::parse_integer(trim(*text)).value_or(fallback);
}

// In text of ours a brace stands for a name.
std::string doubled_braces(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '{' ? "{{" : std::string(1, c);
  return out;
}

// supervisord's 50MB is a power of two.
std::optional<std::int64_t> bytes_of(std::string_view text) {
  std::string size(trim(text));
  if (const auto bytes = yaml::parse_integer(size)) return bytes;
  if (size.size() > 2 && (size.back() == 'B' || size.back() == 'b')) {
    size.insert(size.size() - 1, "i");
  }
  return yaml::parse_size_bytes(size);
}

class Entry {
 public:
  Entry(const IniSection& section, Values values, const ImportFrom& from)
      : section_(section), values_(std::move(values)), from_(from) {}

  ProgramEntry read(const std::string& shared) {
    add_command();
    add_text("directory");
    add_environment(shared);
    add_text("user");
    add_umask();
    add_switch("autostart");
    add_restart();
    add_deadlines();
    add_stop_signal();
    add_exit_codes();
    add_retries();
    add_logs();
    for (const IniEntry& entry : section_.entries) add_rest(entry);
    return std::move(out_);
  }

 private:
  void line(std::string text) { out_.lines.push_back(std::move(text)); }
  void comment(std::string_view text) {
    line("# " + clean(text));
    ++out_.comments;
  }
  void not_taken(std::string_view key, std::string_view value, std::string_view why) {
    const bool hidden = looks_secret(key, value) && !from_.with_secrets;
    comment(fmt::format("{}{}{}: {}", key, hidden ? "" : "=", hidden ? "" : value, why));
  }

  // With %(…)s filled in; ENV_X from the importing user's variables.
  std::string filled(const std::string& text, std::string_view key) {
    Values values = values_;
    for (const std::string& name : expand(text, values).unknown) {
      if (!name.starts_with("ENV_") || !from_.variable) continue;
      const auto value = from_.variable(name.substr(4));
      if (!value || (looks_secret(name, *value) && !from_.with_secrets)) continue;
      values[name] = *value;
      comment(fmt::format("{}: %({})s is what it was when this was imported", key, name));
    }
    Expanded expanded = expand(text, values);
    if (!expanded.unknown.empty()) {
      comment(fmt::format("{}: %({})s is not filled in here: write what it stands for", key,
                          fmt::join(expanded.unknown, ")s, %(")));
    }
    return std::move(expanded.text);
  }

  // Without its command our own worker would run in the program's name.
  void refuse(std::string why) {
    if (out_.refused.empty()) out_.refused = std::move(why);
  }

  void add_command() {
    const std::string* text = section_.find("command");
    if (text == nullptr) return refuse("it has no command");
    const auto split = split_words(filled(*text, "command"));
    if (!split) return refuse("command: " + split.error().what);
    if (split->words.empty()) return refuse("its command is empty");
    std::vector<std::string> words;
    for (const std::string& word : split->words) {
      words.push_back(yaml::text_scalar(doubled_braces(word)));
    }
    line(fmt::format("command: [{}]", fmt::join(words, ", ")));
  }

  void add_text(std::string_view key) {
    const std::string* text = section_.find(key);
    if (text == nullptr || text->empty()) return;
    line(fmt::format("{}: {}", key, yaml::text_scalar(filled(*text, key))));
  }

  // Its digits are octal in both.
  void add_umask() {
    const std::string* text = section_.find("umask");
    if (text == nullptr) return;
    const std::string digits(trim(*text));
    const bool octal = !digits.empty() && digits.size() <= 4 &&
                       digits.find_first_not_of("01234567") == std::string::npos;
    if (!octal) return not_taken("umask", *text, "expected octal digits, as in 022");
    line(fmt::format("umask: {}", digits));
  }

  void add_environment(const std::string& shared) {
    const std::string* own = section_.find("environment");
    std::map<std::string, std::string> variables;
    for (const std::string& text : {shared, own == nullptr ? std::string() : *own}) {
      const auto pairs = variables_of(text);
      if (!pairs) return refuse("environment: " + pairs.error().what);
      for (const auto& [name, value] : *pairs) variables[name] = value;
    }
    std::vector<std::string> lines;
    for (const auto& [name, value] : variables) {
      if (!variable_name(name) || name.size() > 256) {
        comment("environment: what stands before a '=' there is no variable's name");
        continue;
      }
      if (looks_secret(name, value) && !from_.with_secrets) {
        comment(
            fmt::format("{} looks like a secret and is left out here; written to a file it is "
                        "kept",
                        name));
        continue;
      }
      const std::string text = doubled_braces(filled(value, name));
      lines.push_back(fmt::format("  {}: {}", yaml::text_scalar(name), yaml::text_scalar(text)));
    }
    if (lines.empty()) return;
    line("environment:");
    for (std::string& text : lines) line(std::move(text));
  }

  void add_switch(std::string_view key) {
    const std::string* text = section_.find(key);
    if (text == nullptr) return;
    const auto value = ini_boolean(*text);
    if (!value) return not_taken(key, *text, "is neither true nor false");
    line(fmt::format("{}: {}", key, *value));
  }

  void add_restart() {
    const std::string* text = section_.find("autorestart");
    if (text == nullptr) return;
    const auto value = ini_boolean(*text);
    if (!value && *text != "unexpected") {
      return not_taken("autorestart", *text, "expected true, false or unexpected");
    }
    line(fmt::format("autorestart: {}", !value ? "unexpected" : *value ? "always" : "never"));
  }

  // supervisord watches nobody for signs of life.
  void add_deadlines() {
    constexpr std::int64_t most = 30 * 86'400;
    const std::string* text = section_.find("stopwaitsecs");
    const auto seconds = text == nullptr ? std::nullopt : yaml::parse_integer(trim(*text));
    const bool usable = seconds && *seconds >= 1 && *seconds <= most;
    if (text != nullptr && !usable) {
      not_taken("stopwaitsecs", *text, fmt::format("expected a number from 1 to {}", most));
    }
    line(usable ? fmt::format("deadlines: {{stop: {}s, silence: 0s}}", *seconds)
                : "deadlines: {silence: 0s}");
  }

  void add_stop_signal() {
    const std::string* text = section_.find("stopsignal");
    if (text == nullptr) return;
    const auto name = stop_signal_of(*text);
    if (!name) return not_taken("stopsignal", *text, "no program is asked to end with that");
    line("stop_signal: " + *name);
  }

  void add_exit_codes() {
    const std::string* text = section_.find("exitcodes");
    if (text == nullptr) return;
    std::vector<std::int64_t> codes;
    for (std::string_view rest = *text; !rest.empty();) {
      const auto comma = std::min(rest.find(','), rest.size());
      const auto code = yaml::parse_integer(trim(rest.substr(0, comma)));
      if (!code || *code < 0 || *code > 255) {
        return not_taken("exitcodes", *text, "expected numbers from 0 to 255");
      }
      codes.push_back(*code);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    line(fmt::format("exit_codes: [{}]", fmt::join(codes, ", ")));
  }

  // It tries again so often; here all attempts are counted.
  void add_retries() {
    const std::string* text = section_.find("startretries");
    if (text == nullptr) return;
    const auto number = yaml::parse_integer(trim(*text));
    if (!number || *number < 0 || *number >= 1'000'000) {
      return not_taken("startretries", *text, "expected a number from 0 to 999999");
    }
    line(fmt::format("budgets: {{attempts_without_progress: {}}}", *number + 1));
  }

  // One setting for both streams: the larger of the two.
  void add_logs() {
    std::int64_t size = 0;
    std::int64_t keep = 0;
    for (const char* stream : {"stdout", "stderr"}) {
      const std::string size_key = fmt::format("{}_logfile_maxbytes", stream);
      const std::string* text = section_.find(size_key);
      const auto bytes = text == nullptr ? std::nullopt : bytes_of(*text);
      constexpr std::int64_t least = 64 * 1024;
      if (text != nullptr && (!bytes || *bytes < least || *bytes > std::int64_t{1} << 40)) {
        not_taken(size_key, *text, "a log is from 64KiB to 1TiB long, and is always rotated");
      } else if (bytes) {
        size = std::max(size, *bytes);
      }
      keep = std::max(keep, whole_or(section_, fmt::format("{}_logfile_backups", stream), 0));
    }
    if (size == 0 && keep == 0) return;
    std::vector<std::string> settings;
    if (size > 0) settings.push_back("max_size: " + yaml::size_text(size));
    if (keep > 0) settings.push_back(fmt::format("keep: {}", std::min<std::int64_t>(keep, 1000)));
    line(fmt::format("logs: {{{}}}", fmt::join(settings, ", ")));
  }

  void add_rest(const IniEntry& entry) {
    const Counterpart* word = find_program_word(entry.key);
    if (word == nullptr) return not_taken(entry.key, entry.value, "is not known here");
    if (word->ours.empty()) not_taken(entry.key, entry.value, word->says);
  }

  const IniSection& section_;
  Values values_;
  const ImportFrom& from_;
  ProgramEntry out_;
};

}  // namespace

std::vector<ProgramEntry> program_entries(const IniSection& section, const std::string& shared,
                                          const ImportFrom& from) {
  const std::string name = section.name.substr(section.name.find(':') + 1);
  const std::int64_t processes =
      std::clamp<std::int64_t>(whole_or(section, "numprocs", 1), 1, most_processes);
  const std::int64_t first = whole_or(section, "numprocs_start", 0);
  std::vector<ProgramEntry> entries;
  for (std::int64_t number = 0; number < processes; ++number) {
    Values values{{"program_name", name},
                  {"group_name", name},
                  {"here", from.here},
                  {"host_node_name", from.host},
                  {"numprocs", std::to_string(processes)},
                  {"process_num", std::to_string(first + number)}};
    const std::string* form = section.find("process_name");
    std::string own = form == nullptr ? name : expand(*form, values).text;
    if (processes > 1 && expand(form == nullptr ? "" : *form, {}).unknown.empty()) {
      own += fmt::format("-{}", first + number);
    }
    ProgramEntry entry = Entry(section, std::move(values), from).read(shared);
    entry.name = std::move(own);
    entry.priority = static_cast<long>(whole_or(section, "priority", 999));
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::optional<bool> ini_boolean(std::string_view text) {
  const std::string word = upper_case(text);
  for (const char* yes : {"TRUE", "YES", "ON", "1", "T", "Y"}) {
    if (word == yes) return true;
  }
  for (const char* no : {"FALSE", "NO", "OFF", "0", "F", "N"}) {
    if (word == no) return false;
  }
  return std::nullopt;
}

}  // namespace trainward::config
