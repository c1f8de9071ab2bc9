// What every command is given: where the daemon and its database lie, and where to print.
#pragma once

#include <filesystem>
#include <functional>
#include <istream>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "common/base/json/json.hpp"
#include "common/base/time.hpp"
#include "common/base/utf8.hpp"
#include "supervisor/ctl/output/table.hpp"

namespace trainward::ctl {

// supervisorctl's exit codes; scripts depend on them (docs/cli.md).
namespace exit_status {
inline constexpr int ok = 0;
inline constexpr int failed = 1;
inline constexpr int usage = 2;
inline constexpr int not_all_running = 3;  // status
inline constexpr int unreachable = 4;      // no daemon (status: or an unknown name)
inline constexpr int other_version = 5;
inline constexpr int not_running = 7;  // no socket; spawn error; pid of a stopped program
}  // namespace exit_status

// Where the system's service keeps things (systemd/trainwardd.service).
namespace system_service {
inline constexpr const char* state_dir = "/var/lib/trainward";
inline constexpr const char* socket = "/run/trainward/trainward.sock";
}  // namespace system_service

struct Terminal {
  std::ostream& out;
  std::ostream& err;
  bool colour = false;
  int width = 0;  // columns; 0: not a terminal, lines are never cut
  Time now;
  std::function<int()> err_width = {};  // columns of err's terminal now; empty: not a terminal
  bool redraws = false;                 // out is a terminal that can be drawn over
  std::istream* in = nullptr;           // commands, if no command is given; null: nothing to read
  bool in_is_terminal = false;          // and out is the same one
  bool utf8 = true;                     // else it knows ASCII alone
  bool out_is_terminal = false;         // what is somebody else's is made safe for it
};

namespace remote {
class Connection;
}

struct Settings {
  std::filesystem::path state_dir = ".trainward";
  std::filesystem::path socket;  // empty: STATE_DIR/trainward.sock, or the system service's
  bool socket_alone = false;     // named without a folder: which database is its is not known
  std::string host;              // an address of another machine, as it was typed; empty: this one
  std::shared_ptr<remote::Connection> connection = {};  // to `host`, once there is one
  bool json = false;
  bool utc = false;  // times that people read are in UTC, not in local time

  [[nodiscard]] std::filesystem::path socket_path() const {
    if (!socket.empty()) return socket;
    if (state_dir == system_service::state_dir) return system_service::socket;
    return state_dir / "trainward.sock";
  }
  // Whom commands ask, to be named in a message.
  [[nodiscard]] std::string server() const { return host.empty() ? socket_path().string() : host; }
  // Whether what a daemon left behind can be looked at when it does not answer.
  [[nodiscard]] bool is_here() const { return host.empty(); }
  [[nodiscard]] std::filesystem::path database() const { return state_dir / "trainward.db"; }
};

using Names = std::vector<std::string>;  // of programs

struct Context {
  Settings settings;
  Terminal& terminal;

  [[nodiscard]] Style style() const { return {terminal.colour, terminal.width}; }

  // One JSON document on one line; always UTF-8, whatever the texts in it are.
  void print_json(const json::value& value) const {
    terminal.out << valid_utf8(json::serialize(value)) << '\n';
  }
};

}  // namespace trainward::ctl
