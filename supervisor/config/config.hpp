// The configuration file, fully checked: what the rest of the supervisor sees.
//
// load() reads strict YAML. Nothing is half-configured: every problem in the file is found in one
// pass and reported with file, line, column, what was expected and the nearest valid key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "common/os/user.hpp"
#include "common/wire/resource_limits.hpp"
#include "supervisor/config/reading/listening.hpp"
#include "supervisor/decide/core/policy.hpp"
#include "supervisor/decide/notify/notify_policy.hpp"
#include "supervisor/evidence/foreign/substitute.hpp"
#include "supervisor/evidence/foreign/terms/spec.hpp"
#include "supervisor/orders/channels.hpp"
#include "supervisor/orders/targets.hpp"
#include "supervisor/orders/trackers.hpp"

namespace trainward::config {

using core::Autorestart;
using core::Backoff;
using core::Budgets;
using core::Deadlines;

// Chips in rows and columns; every two neighbours are linked.
struct Mesh {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  friend bool operator==(const Mesh&, const Mesh&) = default;
};

struct Program {
  std::string name;  // [A-Za-z0-9_.-]{1,64}
  bool autostart = true;
  Autorestart autorestart = Autorestart::unexpected;
  foreign::Command command;         // empty: trainward-worker with `worker` below
  std::filesystem::path directory;  // working directory, absolute
  std::map<std::string, foreign::Template> environment;
  std::set<std::string> withheld;  // variables of the daemon that hold secrets of channels
  std::optional<User> user;        // as whom the worker runs; none: as trainwardd
  std::optional<unsigned> umask;   // of the worker; none: trainwardd's
  // The trainer's configuration (training_config, device_config, logging_config of the file) with
  // every default filled in, as the worker reads it; empty object for a foreign command.
  json::object worker;
  bool needs_board = false;                   // runs only on a board found usable, alone on it
  std::optional<Mesh> mesh;                   // what its boards must form; none: any one will do
  std::int64_t min_chips = 1;                 // of our own worker's mesh, when that does not fit
  std::int64_t grow_after_ms = 600'000;       // on a smaller mesh, until the full one is looked for
  std::optional<std::filesystem::path> host;  // a described (simulated) host instead of this one
  std::vector<foreign::Template>
      probe_command;                      // prints a report of the host; empty: our own probe
  std::int64_t sample_every_ms = 10'000;  // what its boards measure; 0: not
  foreign::WatchSpec watch;               // of a foreign command
  std::vector<foreign::Template> reset_command;  // of a board; empty: none
  int checkpoints_keep = 3;
  std::int64_t checkpoints_keep_every = 0;  // steps; 0: no milestones
  bool prunes_foreign = false;              // those that `watch` finds are removed, too
  bool standby = false;                     // the next attempt's worker is started ahead
  bool saves_when_asked = true;             // asked to end, it writes a checkpoint
  int stop_signal = SIGTERM;                // asks it to end
  core::ExitCodes exit_codes{0};            // with which its work is finished
  Deadlines deadlines;
  std::int64_t settle_ms = 180'000;  // from a reset until the boards are what they were
  std::int64_t rest_ms = 30'000;     // boards of a mesh are left alone after a reset
  Budgets budgets;
  Backoff backoff;
  core::Shrinking shrinking;
  core::Cadence cadence;
  core::Rollback rollback;
  core::Quarantine quarantine;
  std::int64_t log_max_bytes = 64 * 1024 * 1024;  // of a log file before it is rotated
  int log_keep = 5;                               // rotated files of each log
  std::int64_t steps_keep = 0;                    // newest steps that stay one by one; 0: all
  std::int64_t memory_limit_bytes = 0;            // of the worker; 0: the machine's
  std::vector<ResourceLimit> resource_limits;     // of each of its processes
  orders::Upload upload;                          // where its checkpoints go to besides
  orders::Tracking tracking;                      // where its curve is shown besides
  std::string digest;  // SHA-256 of the canonical JSON of what its attempts hang on
};

struct Problem {
  std::string file;
  int line = 0;  // from 1
  int column = 0;
  std::string message;  // "unknown key 'lerning_rate'; did you mean 'learning_rate'?"
  [[nodiscard]] std::string text() const;  // "file:line:column: message"
};
using Problems = std::vector<Problem>;

// Section `notify`.
struct Notify {
  notify::Policy policy;
};

struct Config {
  std::filesystem::path file;       // absolute
  std::filesystem::path state_dir;  // absolute; default `.trainward` beside the current directory
  std::filesystem::path socket;     // absolute; default STATE_DIR/trainward.sock
  std::filesystem::path database;   // STATE_DIR/trainward.db
  std::string log_level = "info";
  std::filesystem::path rules;            // crash rules file; empty: the built-in rules
  Listening listening;                    // besides the socket
  Notify notify;                          // what people are told
  std::vector<orders::Channel> channels;  // of notify: how people are told
  std::vector<Program> programs;
  std::vector<Problem> notes;  // nothing is wrong with these, but somebody may want to know
};

// What may hold the configuration. A pipe is waited for, so only a program that has just been
// started takes one (`trainwardd --check <(…)`), never one that supervises.
enum class Accept { files, pipes };

// What is read when no file is named, in the folder where the command is typed.
inline constexpr const char* usual_file = "trainward.yaml";

// `working_directory` resolves state_dir; paths in the file resolve against the file's own folder.
// `overrides` are "key.path=value" strings from the command line (`--set`), checked the same way.
// A file or a state folder that every user of the machine may write is a problem too.
tl::expected<Config, Problems> load(const std::filesystem::path& file,
                                    const std::filesystem::path& working_directory,
                                    const std::vector<std::string>& overrides = {},
                                    Accept accept = Accept::files);

// The same of a file's text, which stands or is to stand in `file`.
tl::expected<Config, Problems> load_text(std::string_view text, const std::filesystem::path& file,
                                         const std::filesystem::path& working_directory,
                                         const std::vector<std::string>& overrides = {});

// Of one program with this command and every default, without a file: it runs in
// `working_directory` and is named after its script.
tl::expected<Config, Problems> load_command(const std::vector<std::string>& words,
                                            const std::filesystem::path& working_directory,
                                            const std::vector<std::string>& overrides = {});

// What this process may not do of it: start programs as another user. Of the daemon, whose
// configuration is then refused; a mere reader of the file is told in the notes.
Problems check_run_as(const Config& config);
// As root, with a program under another user: the state folder, the configuration, the rules and
// the files of secrets to which somebody else than root could make the path lead elsewhere, each
// with what mends it. As sshd's StrictModes.
Problems check_places(const Config& config);
// The same of files of tokens that this process may not read.
Problems check_tokens(const Config& config);

json::object to_json(const Program& program);

// What is to be done with the checkpoints of a program that lie in `checkpoints`.
orders::UploadOrder upload_order_of(const Program& program,
                                    const std::filesystem::path& checkpoints);

// As one certain string, so that equal configurations have equal digests: keys in byte order, no
// spaces, numbers in their shortest form.
std::string canonical_json(const json::value& value);

}  // namespace trainward::config
