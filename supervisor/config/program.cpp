#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "common/base/digest.hpp"
#include "common/base/json/json.hpp"
#include "common/base/text.hpp"
#include "common/yaml/map_reader.hpp"
#include "supervisor/config/elsewhere/other_names.hpp"
#include "supervisor/config/elsewhere/translate.hpp"
#include "supervisor/config/sections.hpp"

namespace trainward::config {
namespace {

using yaml::MapReader;
using yaml::Node;

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

std::filesystem::path read_directory(MapReader& reader, const Folders& folders) {
  const Node* node = reader.take("directory");
  if (node == nullptr) return (folders.file / "").lexically_normal().parent_path();
  if (node->kind != Node::Kind::scalar || node->text.empty() ||
      node->text.find('\0') != std::string::npos) {
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

Autorestart read_autorestart(MapReader& reader) {
  constexpr std::array<std::string_view, 3> words{"always", "unexpected", "never"};
  const std::string word = reader.one_of("autorestart", words, "unexpected");
  if (word == "always") return Autorestart::always;
  return word == "never" ? Autorestart::never : Autorestart::unexpected;
}

// What our own worker's settings say about the work of a step and the distance of checkpoints.
void take_over_training(Program& program) {
  const json::object& training = program.worker.at("training_config").as_object();
  program.shrinking.block = training.at("block_size").to_number<std::int64_t>();
  program.shrinking.batch = training.at("batch_size").to_number<std::int64_t>();
  const json::object& device = program.worker.at("device_config").as_object();
  const json::array& mesh = device.at("mesh_shape").as_array();
  const bool rows_alone = bool_or(device, "enable_tp", false);
  program.shrinking.devices = mesh.at(0).to_number<std::int64_t>() *
                              (rows_alone ? 1 : mesh.at(1).to_number<std::int64_t>());
  program.cadence.max_steps = training.at("checkpoint_every").to_number<std::int64_t>();
}

// The devices of a plugin are chips; on the processor there is nothing to be placed.
void settle_mesh(MapReader& reader, Program& program) {
  if (!program.needs_board) return program.mesh.reset();
  if (program.command.empty()) {
    const json::object& device = program.worker.at("device_config").as_object();
    const json::array& sides = device.at("mesh_shape").as_array();
    const Mesh asked{sides.at(0).to_number<std::int64_t>(), sides.at(1).to_number<std::int64_t>()};
    if (device.at("device").as_string() != "pjrt") return program.mesh.reset();
    // Before a mesh of devices could have rows, `board` arranged a row of them as a square.
    const bool arranged = program.mesh && asked.rows == 1 &&
                          program.mesh->rows * program.mesh->columns == asked.columns;
    if (program.mesh && program.mesh != asked && !arranged) {
      reader.report(
          "board.mesh_shape", *reader.node().find("board"),
          fmt::format("is {} x {}, and device_config.mesh_shape is {} x {}; leave it out "
                      "here",
                      program.mesh->rows, program.mesh->columns, asked.rows, asked.columns));
    }
    if (!program.mesh) program.mesh = asked;
  }
  if (program.mesh == Mesh{}) program.mesh.reset();
}

void check_probe(MapReader& reader, const Program& program) {
  if (program.probe_command.empty()) return;
  const Node& node = *reader.node().find("probe_command");
  if (program.host) {
    reader.report("probe_command", node, "looks at a host, and a described one is given instead");
  } else if (!program.needs_board) {
    reader.report("probe_command", node, "goes with 'board', and this program needs none");
  }
}

}  // namespace

Program read_program(const yaml::Member& member, const Folders& folders, const ForAll& usual,
                     std::vector<yaml::Problem>& problems) {
  Program program;
  program.name = member.key;
  check_name(member, problems);
  // An empty entry (`quickstart:`) is a program with every default.
  Node entry = member.value;
  if (entry.kind == Node::Kind::null) entry.kind = Node::Kind::map;
  if (entry.find("command") == nullptr) {
    elsewhere::translate(entry, "programs." + member.key, folders, usual.tracking, problems);
  }

  MapReader reader(entry, "programs." + member.key, problems);
  program.autostart = reader.boolean("autostart", program.autostart);
  program.autorestart = read_autorestart(reader);
  program.standby = reader.boolean("standby", program.standby);
  program.command = read_command(reader);
  program.directory = read_directory(reader, folders);
  program.environment = read_environment(reader);
  read_run_as(reader, folders, program);
  const Node* command = entry.find("command");
  const bool foreign = command != nullptr;
  if (foreign) {
    refuse_worker_sections(reader);
    program.saves_when_asked = false;
  } else {
    WorkerSections sections = read_worker_sections(reader, folders);
    program.worker = std::move(sections.worker);
    program.host = std::move(sections.host);
    program.needs_board = program.host.has_value();
    if (program.host) program.rest_ms = 0;
    take_over_training(program);
  }
  program.watch = read_watch(reader, foreign);
  if (foreign && program.standby && !program.watch.protocol) {
    reader.report("standby", *entry.find("standby"),
                  "is for a command that waits until it is told to begin: watch: {protocol: true}, "
                  "and worker.wait() (docs/worker-protocol.md)");
  }
  if (foreign) note_command(*command, program, folders);
  read_ending(reader, program);
  program.probe_command = read_probe_command(reader);
  program.reset_command = read_reset_command(reader);
  read_policy_sections(reader, folders, program);
  read_upload(reader, folders, program);
  if (foreign) note_watch(*command, program, folders);
  program.tracking = read_tracking(reader, folders, usual.tracking);
  settle_mesh(reader, program);
  check_probe(reader, program);
  reader.finish(other_name);
  // Where checkpoints go to and where it is shown is no part of the work: a change of it ends no
  // attempt.
  json::object decisive = to_json(program);
  decisive.erase("upload");
  decisive.erase("tracking");
  program.digest = sha256_hex(canonical_json(decisive));
  return program;
}

}  // namespace trainward::config
