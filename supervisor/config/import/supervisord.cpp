#include "supervisor/config/import/supervisord.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "common/base/text.hpp"
#include "common/yaml/scalar.hpp"
#include "supervisor/config/import/program_entry.hpp"

namespace trainward::config {
namespace {

constexpr std::size_t most_programs = 10'000;

// Of sections that are no programs: what becomes of them.
struct SectionWord {
  std::string_view begins;
  std::string_view why;
};
constexpr std::array sections{
    SectionWord{"include", "other files are not read: import each, and put their programs below"},
    SectionWord{"group:", "there are no groups: programs are named one by one, or 'all'"},
    SectionWord{"eventlistener:",
                "events go to programs of yours by notify.channels: {kind: command}; 'trainwardctl "
                "events' lists them"},
    SectionWord{"fcgi-program:", "there are no FastCGI programs"},
    SectionWord{"inet_http_server", "the page and API on a port are listen: and tokens:"},
    SectionWord{"unix_http_server",
                "the socket is STATE_DIR/trainward.sock, unless 'socket' says "
                "another"},
};

// Of [supervisord]; empty: it needs no word here.
constexpr std::array daemon_words{
    SectionWord{"nodaemon", ""},
    SectionWord{"environment", ""},
    SectionWord{"loglevel", ""},
    SectionWord{"logfile", "the daemon's log is on stderr, or in the journal"},
    SectionWord{"pidfile", "'trainwardctl pid' tells the process id"},
    SectionWord{"childlogdir", "logs lie in the state folder"},
    SectionWord{"user", "trainwardd runs as the user who starts it"},
    SectionWord{"directory", "paths below are meant from this file's folder"},
};

std::string log_level_of(std::string_view theirs) {
  if (theirs == "warn") return "warning";
  if (theirs == "critical") return "error";
  if (theirs == "blather") return "trace";
  for (const char* same : {"error", "info", "debug", "trace"}) {
    if (theirs == same) return same;
  }
  return "";
}

// A name that a program may have here, and that none has yet.
std::string free_name(std::string name, std::set<std::string>& taken) {
  constexpr std::size_t longest = 56;  // room for a number
  if (name.size() > longest) name.resize(longest);
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) {
        return c >= 0x80 || (std::isalnum(c) == 0 && c != '_' && c != '.' && c != '-');
      },
      '-');
  if (name.empty() || name == "all" || name == "." || name == "..") name = "program-" + name;
  std::string free = name;
  for (int number = 2; !taken.insert(free).second; ++number) {
    free = fmt::format("{}-{}", name, number);
  }
  return free;
}

class Import {
 public:
  explicit Import(const ImportFrom& from) : from_(from) {}

  Result<Imported> run(const std::vector<IniSection>& sections) {
    std::string shared;
    for (const IniSection& section : sections) {
      if (section.name != "supervisord") continue;
      if (const std::string* environment = section.find("environment")) shared = *environment;
    }
    std::size_t lines = 0;
    for (const IniSection& section : sections) {
      if (!section.name.starts_with("program:")) {
        take_section(section);
        continue;
      }
      for (ProgramEntry& entry : program_entries(section, shared, from_)) {
        lines += entry.lines.size();
        programs_.push_back(std::move(entry));
      }
      if (programs_.size() > most_programs || lines > 100 * most_programs) {
        return fail(ErrorKind::usage, fmt::format("more than {} programs", most_programs));
      }
    }
    if (programs_.empty()) return fail(ErrorKind::usage, "there is no [program:NAME] in it");
    leave_out();
    if (programs_.empty()) return fail(ErrorKind::usage, out_.refused.front());
    return written();
  }

 private:
  void comment(std::string_view text) {
    head_ += "# " + clean(text) + '\n';
    ++out_.comments;
  }

  void take_section(const IniSection& section) {
    if (section.name == "supervisord") return take_daemon(section);
    for (const SectionWord& word : config::sections) {
      if (section.name.starts_with(word.begins)) {
        comment(fmt::format("[{}]: {}", section.name, word.why));
      }
    }
  }

  void take_daemon(const IniSection& section) {
    for (const IniEntry& entry : section.entries) {
      const auto* const word =
          std::find_if(daemon_words.begin(), daemon_words.end(),
                       [&](const SectionWord& known) { return known.begins == entry.key; });
      const bool known = word != daemon_words.end();
      if (known && word->why.empty()) continue;
      comment(fmt::format("[supervisord] {}: {}", entry.key,
                          known ? word->why : "there is no such setting here"));
    }
    const std::string* level = section.find("loglevel");
    if (level != nullptr) level_ = log_level_of(*level);
  }

  // What supervisord would not start either.
  void leave_out() {
    for (const ProgramEntry& entry : programs_) {
      if (entry.refused.empty()) continue;
      out_.refused.push_back(
          fmt::format("program '{}' is left out: {}", entry.name, entry.refused));
      comment(out_.refused.back());
    }
    std::erase_if(programs_, [](const ProgramEntry& entry) { return !entry.refused.empty(); });
  }

  Imported written() {
    std::stable_sort(programs_.begin(), programs_.end(),
                     [](const auto& a, const auto& b) { return a.priority < b.priority; });
    std::string text = fmt::format(
        "# Made of {} by 'trainwardctl config import'. Comments say what is different here.\n",
        clean(from_.file));
    text += head_;
    if (!level_.empty()) text += "log_level: " + level_ + '\n';
    text += "programs:\n";
    std::set<std::string> taken;
    for (const ProgramEntry& entry : programs_) {
      const std::string name = free_name(entry.name, taken);
      text += fmt::format("  {}:\n", yaml::text_scalar(name));
      if (name != entry.name) {
        text += fmt::format("    # was named '{}'\n", clean(entry.name));
        ++out_.comments;
      }
      for (const std::string& line : entry.lines) text += "    " + line + '\n';
      out_.comments += entry.comments;
    }
    out_.yaml = std::move(text);
    out_.programs = programs_.size();
    return std::move(out_);
  }

  const ImportFrom& from_;
  std::string head_;
  std::string level_;
  std::vector<ProgramEntry> programs_;
  Imported out_;
};

}  // namespace

Result<Imported> import_supervisord(std::string_view ini, const ImportFrom& from) {
  auto sections = parse_ini(ini);
  if (!sections) return propagate(sections);
  return Import(from).run(*sections);
}

}  // namespace trainward::config
