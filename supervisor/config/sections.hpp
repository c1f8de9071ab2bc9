// The parts of one entry of `programs:`, each read by a file of its own.
//
// In: the program's map. Failure: problems appended to the reader's list; what is returned is then
// not to be used.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/json/json.hpp"
#include "common/settings/setting.hpp"
#include "common/yaml/map_reader.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/config/reading/config_reading.hpp"
#include "supervisor/config/reading/listening.hpp"
#include "supervisor/evidence/foreign/substitute.hpp"
#include "supervisor/evidence/foreign/terms/spec.hpp"
#include "supervisor/orders/channels.hpp"
#include "supervisor/orders/trackers.hpp"

namespace trainward::config {

// ---- command.cpp: what is executed ----

// Texts are templates (supervisor/evidence/foreign/substitute.hpp); each is checked here, so that
// an attempt cannot fail on one. Empty when the program has none.
foreign::Command read_command(yaml::MapReader& program);
std::vector<foreign::Template> read_probe_command(yaml::MapReader& program);
std::vector<foreign::Template> read_reset_command(yaml::MapReader& program);
std::map<std::string, foreign::Template> read_environment(yaml::MapReader& program);
// Letters, digits and _, no digit first.
bool variable_name(std::string_view name);

// ---- command_notes.cpp: what of it will only show when it is started ----

// Into folders.notes, at the place of the command. `program` is read as far as its environment.
void note_command(const yaml::Node& command, const Program& program, const Folders& folders);

// ---- watch_notes.cpp: what of it nobody will see ----

// Into folders.notes, at the place of the command. `program` is read as far as its deadlines.
void note_watch(const yaml::Node& command, const Program& program, const Folders& folders);

// ---- worker_sections.cpp: training_config, device_config and logging_config ----

struct WorkerSections {
  // Every key is present (the trainer's worker_config reads it by the same table), with its default
  // where the file has none or a wrong value.
  json::object worker;
  std::optional<std::filesystem::path> host;
};

// Takes the three sections from `program`, whether they are there or not.
WorkerSections read_worker_sections(yaml::MapReader& program, const Folders& folders);

// The three sections beside a `command` contradict it: each one present is reported.
void refuse_worker_sections(yaml::MapReader& program);

// ---- read_setting.cpp: one of their settings, from YAML to the JSON that the worker is given ----

// Its value, or what `values` holds when the key is absent or wrong; numbers, words and flags are
// put there. Paths are absolute in the JSON, and
// what they name exists now: the worker would find out an hour later.
json::value read_setting(yaml::MapReader& reader, const settings::Setting& setting,
                         settings::WorkerSettings& values, const Folders& folders);

// ---- watch_section.cpp: by what a program is seen to live that is not our own worker ----

// Patterns compile and paths stay inside the program's folders. `has_command`: without one there is
// nothing foreign, and the section is refused.
foreign::WatchSpec read_watch(yaml::MapReader& program, bool has_command);

// ---- run_as.cpp: as whom it runs ----

// user, group, umask. Asks the machine's user database.
void read_run_as(yaml::MapReader& program, const Folders& folders, Program& out);
// Of `limits:` what setrlimit(2) sets.
void read_resource_limits(yaml::MapReader& limits, Program& program);

// ---- ending.cpp: how it ends ----

// stop_signal and exit_codes, of a Program whose `command` is read.
void read_ending(yaml::MapReader& program, Program& out);
// "INT"; of a number that no configuration gives, the number.
std::string stop_signal_name(int number);
// "int", "SIGINT", "2": "INT"; nothing for what may be none.
std::optional<std::string> stop_signal_of(std::string_view text);

// ---- policy_sections.cpp: how a program is looked after ----

// checkpoints, deadlines, budgets, backoff, plan, rollback, quarantine, logs, limits, into the
// fields of a Program whose `command`, `worker` and `watch` are read.
void read_policy_sections(yaml::MapReader& reader, const Folders& folders, Program& program);

// ---- upload_section.cpp: where its checkpoints go to ----

// upload, of a Program whose `command` and `watch` are read.
void read_upload(yaml::MapReader& program, const Folders& folders, Program& out);

// ---- listen_sections.cpp: who reaches the daemon over the network ----

// listen, hosts, proxies and tokens of the file itself. Files of tokens are read now.
Listening read_listening(yaml::MapReader& file, const Folders& folders);

// ---- notify_section.cpp: who is told what ----

// notify of the file itself, into config.
void read_notify(yaml::MapReader& file, const Folders& folders, Config& config);

// ---- notify_channels.cpp: and by which ways ----

// Those of `notify` that are right, in the order of the file. Files of secrets are looked at, not
// read: users who may not read them can still check the configuration.
std::vector<orders::Channel> read_channels(yaml::MapReader& notify, const Folders& folders);

// ---- tracking_section.cpp: where its curve is shown besides our own page ----

// `tracking` of a program, or of the file itself: what is not said there is as `usual`.
orders::Tracking read_tracking(yaml::MapReader& reader, const Folders& folders,
                               const orders::Tracking& usual);

// ---- program.cpp: the whole entry ----

// What the file says of all its programs, where they say nothing else.
struct ForAll {
  orders::Tracking tracking;
};

Program read_program(const yaml::Member& member, const Folders& folders, const ForAll& usual,
                     std::vector<yaml::Problem>& problems);

}  // namespace trainward::config
