// trainwardd without its command line: the programs of one configuration, and what the API asks.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "supervisor/config/config.hpp"
#include "supervisor/daemon/attempt/launch_files.hpp"
#include "supervisor/daemon/base/program_diff.hpp"
#include "supervisor/daemon/courier/courier.hpp"
#include "supervisor/daemon/courier/departure.hpp"
#include "supervisor/daemon/hands/services.hpp"
#include "supervisor/daemon/program_runner.hpp"
#include "supervisor/daemon/service/inherited_sockets.hpp"
#include "supervisor/daemon/service/listeners.hpp"
#include "supervisor/daemon/service/state_folder.hpp"
#include "supervisor/daemon/successor.hpp"
#include "supervisor/window/api/access/access.hpp"
#include "supervisor/window/api/http/api_reader.hpp"
#include "supervisor/window/api/routes/control.hpp"
#include "supervisor/window/api/routes/feed.hpp"

namespace trainward::daemon {

struct Options {
  std::filesystem::path config_file;
  std::vector<std::string> command;  // is run instead of what a file says; empty: the file
  std::filesystem::path working_directory;
  std::filesystem::path web_root =
      {};  // the page's files, while they are being changed; empty: our own
  std::vector<std::string> overrides;
  bool once = false;  // end when every program has; show progress on stdout
  // How long an end is held up at most for what has not left this machine.
  std::int64_t leave_within_ms = 600'000;
  // End with a failing status when nothing is running and a program was given up meanwhile.
  bool fail_on_fatal = false;
  std::function<void(const std::string&)> tell_status = {};  // the service manager, in words
  std::filesystem::path executable;  // what a restart in place executes; upgrade() checks it first
  InheritedSockets sockets;          // that somebody else listens on for us; borrowed
  KeptSockets* kept = nullptr;       // where sockets of ours wait while no Daemon lives; borrowed
  // Asks the service manager to stop the daemon for good, and calls back if that is not possible.
  // Empty: a shutdown by command is the daemon's own affair.
  std::function<void(std::function<void()>)> stop_service;
};

// What the options name, read now. A pipe is only taken by a daemon that has just been started.
tl::expected<config::Config, config::Problems> read_configuration(
    const Options& options, config::Accept accept = config::Accept::files);
// The part of a command line that says the same.
std::vector<std::string> arguments_of(const Options& options);

// Those who may come in over the network.
api::Keys keys_of(const config::Listening& listening);

// Of the other programs of this package.
std::filesystem::path program_folder();

class Daemon final : public api::Control {
 public:
  // Takes the state folder for itself: kind transient when another daemon has it.
  static Result<std::unique_ptr<Daemon>> make(Loop& loop, Options options, config::Config config);
  ~Daemon() override;
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Serves the API and goes on with every program; returns at once, work happens on the loop.
  Status start();

  // Stops every program, lets workers save, then ends the loop. A call while that goes on changes
  // nothing, but with `at_once`: then workers are killed, and nothing is waited for.
  void shut_down(bool at_once = false);
  // Every program has ended, and only what has not left this machine is waited for.
  [[nodiscard]] bool departing() const { return departure_ != nullptr; }

  // Valid when the loop has ended: the exit code contract of `--once`, 0 for a daemon.
  [[nodiscard]] int exit_code() const;
  [[nodiscard]] bool wants_reexec() const { return reexec_; }
  // By the program that lies on the disk now, which was tried out.
  [[nodiscard]] bool wants_successor() const { return upgrade_; }
  // Stops serving; listening sockets go to options.kept.
  void keep_sockets();
  // How long the slowest worker may take to save after SIGTERM.
  [[nodiscard]] std::int64_t longest_stop_ms() const;

  // ---- api::Control ----
  json::value version() const override;
  metrics::Live live() const override;
  void command_all(api::Verb verb, const std::string& by, Answer answer) override;
  void command(const std::string& program, api::Verb verb, const std::string& by,
               Answer answer) override;
  Result<json::value> reread() override;
  void update(const std::string& only, const std::string& by, Answer answer) override;
  Result<json::value> available() override;
  Result<json::value> add(const std::string& program, const std::string& by) override;
  Result<json::value> remove(const std::string& program, const std::string& by) override;
  Result<json::value> signal(const std::string& program, int number,
                             const std::string& by) override;
  void clear(const std::string& program, const std::string& by, Answer answer) override;
  Result<json::value> reload(const std::string& by) override;
  void upgrade(const std::string& by, Answer answer) override;
  Result<json::value> shutdown(const std::string& by) override;
  Result<json::value> release_board(const std::string& serial, const std::string& by) override;
  void probe(const api::ProbeRequest& request, Answer answer) override;
  std::string trouble(const std::string& program) const override;
  Result<json::value> rehearse(const std::string& program, api::Verb verb) const override;
  json::value rehearse_all(api::Verb verb) const override;
  std::string refusal() const override;
  json::object courier() const override;
  void log(const api::LogRequest& request, api::Listener<Result<api::LogSlice>> answer) override;
  api::LogSlice own_log(std::int64_t offset, std::int64_t limit) const override;

 private:
  struct Parts;
  explicit Daemon(std::unique_ptr<Parts> parts);

  // Waits for something about one program: returns true when it has answered.
  using Waiter = std::function<bool()>;

  void add_program(config::Program program);
  api::Handler handler();
  Status rebuild_database();
  void replace_database(const Error& why);
  Status recover_removed();
  void remove_program(const std::string& name);
  void take_up(const std::string& name);
  Status recover(const std::string& name, bool begins);
  [[nodiscard]] Loaded load_again() const;
  [[nodiscard]] Status could_start(const config::Config& next) const;
  void on_change();
  [[nodiscard]] bool all_rest() const;
  void leave();
  void on_left(const std::vector<orders::Left::Job>& behind);
  void tell_status();
  [[nodiscard]] bool gave_up_meanwhile();
  void stop(const std::string& name, const std::string& by, Answer answer);
  void note_request(const std::string& program, const std::string& what, const std::string& by);
  void on_change_soon();
  void on_state_lost(const Error& error);
  void shorten_launch_files();
  ProgramRunner* find(const std::string& name);
  Status known(const std::string& program) const;
  void reexec_soon();

  std::unique_ptr<Parts> parts_;
  std::map<std::string, std::unique_ptr<ProgramRunner>> runners_;
  std::vector<Waiter> waiters_;
  std::set<std::string> changed_;  // programs, since the last on_change()
  bool change_posted_ = false;
  bool shutting_down_ = false;
  bool failed_ = false;                    // a program was given up, and nobody else runs
  MonoTime stop_by_;                       // of a shutdown
  bool hurried_ = false;                   // nothing is waited for
  bool left_behind_ = false;               // something has not left this machine
  std::set<std::string> given_up_before_;  // by an earlier daemon, and not started since
  std::string told_status_;
  bool reexec_ = false;
  bool upgrade_ = false;
  std::int64_t started_ms_ = 0;
  std::optional<std::string> damaged_;  // what was wrong with the run database that was set aside
  std::unique_ptr<SuccessorCheck> successor_;
  bool machine_restarted_ = false;  // while the programs of before are taken up
  bool state_lost_ = false;
  LaunchFiles launch_files_;
  std::unique_ptr<StateFolder> state_folder_;
  std::unique_ptr<ChildProcess> probe_;
  std::size_t log_reads_ = 0;  // that have not ended
  std::unique_ptr<api::Reader> reader_;
  std::unique_ptr<api::Feed> feed_;
  Courier courier_;
  std::unique_ptr<Departure> departure_;
  api::Access access_;
  std::unique_ptr<Listeners> listeners_;  // last: its handlers use all of the above
};

}  // namespace trainward::daemon
