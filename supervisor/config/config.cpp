#include "supervisor/config/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/os/file.hpp"
#include "common/os/path_trust.hpp"
#include "common/yaml/map_reader.hpp"
#include "supervisor/config/elsewhere/other_names.hpp"
#include "supervisor/config/reading/config_reading.hpp"
#include "supervisor/config/reading/overrides.hpp"
#include "supervisor/config/reading/secret_sections.hpp"
#include "supervisor/config/sections.hpp"
#include "supervisor/config/single_program.hpp"

namespace trainward::config {
namespace {

using yaml::MapReader;
using yaml::Node;

constexpr std::size_t max_file_bytes = 1024 * 1024;
constexpr std::array<std::string_view, 5> log_levels{"trace", "debug", "info", "warning", "error"};

std::filesystem::path whole_path(const std::filesystem::path& path) {
  std::error_code error;
  auto out = std::filesystem::absolute(path, error);
  return (error ? path : out).lexically_normal();
}

// The path under `key`, resolved, or empty when absent or wrong.
std::filesystem::path read_path(MapReader& reader, std::string_view key, const Folders& folders) {
  const Node* node = reader.take(key);
  if (node == nullptr) return {};
  if (node->kind != Node::Kind::scalar || node->text.empty() ||
      node->text.find('\0') != std::string::npos) {
    reader.report(key, *node, "expected a path, found " + describe(*node));
    return {};
  }
  return folders.resolve(*node);
}

void read_programs(MapReader& reader, const Folders& folders, const ForAll& usual, Config& config) {
  reader.need("programs", "a map of program names");
  const Node* programs = reader.take("programs");
  if (programs == nullptr) return;
  const MapReader map(*programs, "programs", reader.problems());
  if (programs->kind == Node::Kind::map && programs->members.empty()) {
    reader.report("programs", *programs, "expected at least one program, found none");
  }
  for (const yaml::Member& member : programs->members) {
    config.programs.push_back(read_program(member, folders, usual, reader.problems()));
  }
}

// The state belongs to where the command runs, also when the file stands elsewhere.
std::filesystem::path read_state_dir(MapReader& reader, Folders folders) {
  folders.file = folders.working;
  auto named = read_path(reader, "state_dir", folders);
  return named.empty() ? (folders.working / ".trainward").lexically_normal() : named;
}

// Before everything else, and without a word about what is wrong with it.
std::filesystem::path find_state_dir(const Node& root, Folders folders) {
  std::vector<yaml::Problem> problems;
  std::vector<yaml::Problem> notes;
  folders.notes = &notes;
  MapReader reader(root, "", problems);
  return read_state_dir(reader, folders);
}

Config read_config(const Node& root, const std::filesystem::path& file, const Folders& folders,
                   std::vector<yaml::Problem>& problems) {
  Config config;
  config.file = file;
  MapReader reader(root, "", problems);
  config.state_dir = read_state_dir(reader, folders);
  config.socket = read_path(reader, "socket", folders);
  if (config.socket.empty()) config.socket = config.state_dir / "trainward.sock";
  config.database = config.state_dir / "trainward.db";
  config.log_level = reader.one_of("log_level", log_levels, config.log_level);
  config.rules = read_path(reader, "rules", folders);
  std::error_code error;
  if (!config.rules.empty() && !std::filesystem::is_regular_file(config.rules, error)) {
    reader.report("rules", *root.find("rules"), "no such file: " + config.rules.string());
  }
  config.listening = read_listening(reader, folders);
  read_notify(reader, folders, config);
  const ForAll usual{.tracking = read_tracking(reader, folders, {})};
  read_programs(reader, folders, usual, config);
  for (const orders::Channel& channel : config.channels) {
    for (const auto& [key, secret] : channel.secrets) {
      if (secret.variable.empty()) continue;
      for (Program& program : config.programs) program.withheld.insert(secret.variable);
    }
  }
  reader.finish(other_name);
  return config;
}

// In the order of the file, then of the command line, so that a reader goes down the page.
std::vector<Problem> placed(std::vector<yaml::Problem> problems, const std::string& file) {
  std::stable_sort(problems.begin(), problems.end(), [](const auto& a, const auto& b) {
    return std::tie(a.mark.source, a.mark.line, a.mark.column) <
           std::tie(b.mark.source, b.mark.line, b.mark.column);
  });
  std::vector<Problem> out;
  for (yaml::Problem& problem : problems) {
    const bool from_file = problem.mark.source == 0;
    out.push_back({from_file ? file : "--set", from_file ? problem.mark.line : 0,
                   from_file ? problem.mark.column : 0, std::move(problem.message)});
  }
  return out;
}

// Of a file as a whole.
Problem problem_of(const std::filesystem::path& file, const Error& error) {
  const std::string hint = error.hint.empty() ? "" : fmt::format(" ({})", error.hint);
  return {file.string(), 0, 0, error.what + hint};
}

tl::expected<Config, Problems> settle(yaml::Document document, const std::filesystem::path& file,
                                      const std::filesystem::path& working_directory,
                                      const std::vector<std::string>& overrides) {
  std::vector<yaml::Problem> notes;
  mark_secrets(document.root);
  const std::filesystem::path path = whole_path(file);
  const Folders folders{path.parent_path(), whole_path(working_directory), variable("HOME"),
                        &notes};
  // What the only program is called hangs on the state folder, and other overrides on that name.
  const auto override_if = [&](bool of_state_dir) {
    int number = 0;
    for (const std::string& text : overrides) {
      ++number;
      if (text.starts_with("state_dir=") != of_state_dir) continue;
      apply_override(document.root, text, number, document.problems);
    }
  };
  override_if(true);
  name_single_program(document.root, name_of_file(path, find_state_dir(document.root, folders)),
                      notes);
  override_if(false);
  mark_secrets(document.root);
  Config config = read_config(document.root, path, folders, document.problems);
  if (!document.problems.empty()) {
    return tl::unexpected(placed(std::move(document.problems), file.string()));
  }
  if (auto known = check_known_writers(config.state_dir); !known) {
    return tl::unexpected(Problems{problem_of(config.state_dir, known.error())});
  }
  config.notes = placed(std::move(notes), file.string());
  return config;
}

}  // namespace

std::string Problem::text() const {
  if (line == 0) return fmt::format("{}: {}", file, message);
  return fmt::format("{}:{}:{}: {}", file, line, column, message);
}

tl::expected<Config, Problems> load(const std::filesystem::path& file,
                                    const std::filesystem::path& working_directory,
                                    const std::vector<std::string>& overrides, Accept accept) {
  auto bytes =
      accept == Accept::pipes ? read_stream(file, max_file_bytes) : read_file(file, max_file_bytes);
  if (!bytes) return tl::unexpected(Problems{problem_of(file, bytes.error())});
  if (auto known = check_known_writers(file); !known) {
    return tl::unexpected(Problems{problem_of(file, known.error())});
  }
  return load_text(*bytes, file, working_directory, overrides);
}

tl::expected<Config, Problems> load_text(std::string_view text, const std::filesystem::path& file,
                                         const std::filesystem::path& working_directory,
                                         const std::vector<std::string>& overrides) {
  yaml::Document document = yaml::parse(text, {.max_bytes = max_file_bytes});
  if (document.root.kind == Node::Kind::null && document.problems.empty()) {
    document.problems.push_back({{1, 1, 0}, "the file is empty, expected 'programs:'"});
    document.root.kind = Node::Kind::refused;
  }
  return settle(std::move(document), file, working_directory, overrides);
}

tl::expected<Config, Problems> load_command(const std::vector<std::string>& words,
                                            const std::filesystem::path& working_directory,
                                            const std::vector<std::string>& overrides) {
  yaml::Document document;
  document.root = program_of_command(words);
  return settle(std::move(document), working_directory / "command line", working_directory,
                overrides);
}

}  // namespace trainward::config
