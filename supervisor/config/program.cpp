#include "supervisor/config/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "common/digest.hpp"
#include "common/yaml/map_reader.hpp"
#include "supervisor/config/program_json.hpp"
#include "supervisor/config/worker_sections.hpp"

namespace trainward::config {
namespace {

using yaml::MapReader;
using yaml::Node;

constexpr std::int64_t day_ms = 86'400'000;
constexpr yaml::DurationRange deadline_range{100, 30 * day_ms};

void check_name(const yaml::Member& member, std::vector<yaml::Problem>& problems) {
  const std::string& name = member.key;
  const bool characters = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-');
  });
  if (name.empty() || name.size() > 64 || !characters || name == "." || name == "..") {
    problems.push_back({member.mark, fmt::format("program name '{}': expected 1 to 64 of "
                                                 "A-Z a-z 0-9 _ . -",
                                                 name.substr(0, 80))});
  } else if (name == "all") {
    problems.push_back({member.mark, "program name 'all' stands for every program in commands"});
  }
}

// Arguments and environment values are text whatever they look like: `2` is the text 2.
bool literal_text(const Node& node) {
  return node.kind == Node::Kind::scalar && node.text.find('\0') == std::string::npos;
}

std::vector<std::string> read_command(MapReader& reader) {
  std::vector<std::string> command;
  const Node* list = reader.take("command");
  if (list == nullptr) return command;
  if (list->kind != Node::Kind::list || list->items.empty()) {
    reader.report("command", *list,
                  fmt::format("expected a list such as [python3, train.py], found {}",
                              list->kind == Node::Kind::list ? "an empty list" : describe(*list)));
    return command;
  }
  for (const Node& item : list->items) {
    if (item.kind == Node::Kind::refused) continue;
    if (literal_text(item)) {
      command.push_back(item.text);
    } else {
      reader.report("command", item, "expected text, found " + describe(item));
    }
  }
  if (!command.empty() && command.front().empty()) {
    reader.report("command", list->items.front(), "expected a program to run, found empty text");
  }
  return command;
}

bool variable_name(std::string_view name) {
  const auto word = [](unsigned char c) { return c < 0x80 && (std::isalnum(c) != 0 || c == '_'); };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), word);
}

std::map<std::string, std::string> read_environment(MapReader& reader) {
  std::map<std::string, std::string> out;
  const Node* node = reader.take("environment");
  if (node == nullptr) return out;
  const MapReader map(*node, reader.path_of("environment"), reader.problems());
  for (const yaml::Member& member : node->members) {
    const auto report = [&](const yaml::Mark& mark, std::string message) {
      reader.problems().push_back({mark, fmt::format("{}: {}", map.path_of(member.key), message)});
    };
    if (member.value.kind == Node::Kind::refused) continue;
    if (!variable_name(member.key)) {
      report(member.mark, "expected a variable name of letters, digits and _");
    } else if (member.key.starts_with("TRAINWARD_") || member.key == "NOTIFY_SOCKET") {
      report(member.mark, "is set by the supervisor and cannot be set here");
    } else if (!literal_text(member.value)) {
      report(member.value.mark,
             "expected text, found " + describe(member.value) +
                 (member.value.kind == Node::Kind::null ? "; write \"\" for an empty value" : ""));
    } else {
      out[member.key] = member.value.text;
    }
  }
  return out;
}

std::filesystem::path read_directory(MapReader& reader, const Folders& folders) {
  const Node* node = reader.take("directory");
  if (node == nullptr) return (folders.file / "").lexically_normal().parent_path();
  if (!literal_text(*node) || node->text.empty()) {
    reader.report("directory", *node, "expected a folder, found " + describe(*node));
    return folders.file;
  }
  auto path = folders.resolve(*node);
  if (!path.has_filename() && path.has_relative_path()) path = path.parent_path();
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    reader.report("directory", *node, "no such folder: " + path.string());
  }
  return path;
}

// Runs `read` over the map under `key`, or does nothing when it is absent.
template <typename Read>
void in_section(MapReader& program, std::string_view key, Read read) {
  const Node* node = program.take(key);
  if (node == nullptr) return;
  MapReader reader(*node, program.path_of(key), program.problems());
  read(reader);
  reader.finish();
}

void read_policy(MapReader& reader, Program& program) {
  in_section(reader, "checkpoints", [&](MapReader& map) {
    program.checkpoints_keep =
        static_cast<int>(map.integer("keep", program.checkpoints_keep, {1, 1000}));
  });
  in_section(reader, "deadlines", [&](MapReader& map) {
    Deadlines& d = program.deadlines;
    d.start_ms = map.duration_ms("start", d.start_ms, deadline_range);
    d.load_ms = map.duration_ms("load", d.load_ms, deadline_range);
    d.compile_ms = map.duration_ms("compile", d.compile_ms, deadline_range);
    d.train_floor_ms = map.duration_ms("train_floor", d.train_floor_ms, deadline_range);
    d.save_ms = map.duration_ms("save", d.save_ms, deadline_range);
    d.stop_ms = map.duration_ms("stop", d.stop_ms, deadline_range);
  });
  in_section(reader, "budgets", [&](MapReader& map) {
    Budgets& b = program.budgets;
    b.attempts = static_cast<int>(map.integer("attempts", b.attempts, {1, 1'000'000}));
    b.attempts_without_progress = static_cast<int>(
        map.integer("attempts_without_progress", b.attempts_without_progress, {1, 1'000'000}));
  });
  in_section(reader, "backoff", [&](MapReader& map) {
    Backoff& b = program.backoff;
    b.first_ms = map.duration_ms("first", b.first_ms, {0, day_ms});
    // The default maximum follows a longer first wait up; only a stated one can contradict it.
    b.max_ms = map.duration_ms("max", std::max(b.max_ms, b.first_ms), {0, day_ms});
    if (b.max_ms < b.first_ms) {
      map.report("max", *map.node().find("max"), "is shorter than backoff.first");
    }
  });
}

Autorestart read_autorestart(MapReader& reader) {
  constexpr std::array<std::string_view, 3> words{"always", "unexpected", "never"};
  const std::string word = reader.one_of("autorestart", words, "unexpected");
  if (word == "always") return Autorestart::always;
  return word == "never" ? Autorestart::never : Autorestart::unexpected;
}

}  // namespace

Program read_program(const yaml::Member& member, const Folders& folders,
                     std::vector<yaml::Problem>& problems) {
  Program program;
  program.name = member.key;
  check_name(member, problems);
  // An empty entry (`quickstart:`) is a program with every default.
  Node entry = member.value;
  if (entry.kind == Node::Kind::null) entry.kind = Node::Kind::map;

  MapReader reader(entry, "programs." + member.key, problems);
  program.autostart = reader.boolean("autostart", program.autostart);
  program.autorestart = read_autorestart(reader);
  program.command = read_command(reader);
  program.directory = read_directory(reader, folders);
  program.environment = read_environment(reader);
  if (entry.find("command") != nullptr) {
    refuse_worker_sections(reader);
  } else {
    WorkerSections sections = read_worker_sections(reader, folders);
    program.worker = std::move(sections.worker);
    program.host = std::move(sections.host);
  }
  read_policy(reader, program);
  reader.finish();
  program.digest = sha256_hex(canonical_json(to_json(program)));
  return program;
}

}  // namespace trainward::config
